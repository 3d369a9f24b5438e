/**
 * The public @trpc/client, typed by what `svc types` printed, against a running service with the fake providers.
 *
 *     node suite.js <base url of the service>
 *
 * Every line that says what is no procedure or no field of ours is also a test of the types: tsc wants the error there.
 * Prints the names of what passed, as JSON; ends with an exception at the first that does not.
 */
import assert from "node:assert/strict";
import {
  TRPCClientError,
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  httpSubscriptionLink,
  splitLink,
} from "@trpc/client";
import type { TRPCLink } from "@trpc/client";
import { EventSource } from "eventsource";
import type { AppRouter, MailThreadsOut, SurfaceEvent, SurfaceReady, SurfaceReset } from "./svc.js";

const BASE = process.argv[2] ?? "";
const URL_OF_RPC = `${BASE}/trpc`;
const PATIENCE_MS = 60_000;

const LINKS: Record<string, () => TRPCLink<AppRouter>> = {
  httpLink: () => httpLink({ url: URL_OF_RPC }),
  httpBatchLink: () => httpBatchLink({ url: URL_OF_RPC }),
  httpBatchStreamLink: () => httpBatchStreamLink({ url: URL_OF_RPC }),
};

type Client = ReturnType<typeof createTRPCClient<AppRouter>>;
/** The client says of what is unknown that it may be missing, since JSON leaves out what is undefined. */
type Frame = SurfaceReady | SurfaceReset | (Omit<SurfaceEvent, "payload"> & { payload?: unknown });
type Told = { id: string; data: Frame };

const passed: string[] = [];
for (const [name, link] of Object.entries(LINKS)) {
  const client = createTRPCClient<AppRouter>({ links: [link()] });
  for (const test of [answers, refusals, changes]) {
    await test(client, name);
    passed.push(`${test.name} by ${name}`);
  }
}
for (const test of [liveUpdates, resuming, refusedSubscription]) {
  await test();
  passed.push(test.name);
}
console.log(JSON.stringify(passed));

async function answers(client: Client): Promise<void> {
  const [pong, accounts, tree, none] = await Promise.all([
    client.health.ping.query(),
    client.mail.accounts.query(),
    client.pages.tree.query({}),
    client.mail.threads.query({ section: "skipped", limit: 1 }),
  ]);
  const ok: true = pong.ok;
  const time: string = pong.time;
  assert.ok(ok && Number.isFinite(Date.parse(time)));
  assert.ok(accounts.every((one) => typeof one.address === "string" && typeof one.unread === "number"));
  assert.ok(Array.isArray(tree));
  const threads: MailThreadsOut["threads"] = none.threads;
  assert.ok(threads.length <= 1);
  // @ts-expect-error no field of ours
  assert.equal(pong.colour, undefined);
}

async function refusals(client: Client): Promise<void> {
  const found = await Promise.all([
    // @ts-expect-error a page is a path in words
    refusal(client.pages.get.query({ path: 5 })),
    // @ts-expect-error the path is missing
    refusal(client.pages.get.query({})),
    refusal(client.pages.get.query({ path: "none/such" })),
    // @ts-expect-error no procedure of ours
    refusal(client.weather.today.query()),
  ]);
  assert.deepEqual(
    found.map(({ data }) => data?.code),
    ["BAD_REQUEST", "BAD_REQUEST", "NOT_FOUND", "NOT_FOUND"],
  );
  assert.deepEqual(
    found.map(({ data }) => data?.httpStatus),
    [400, 400, 404, 404],
  );
  assert.match(found[0]?.message ?? "", /\$\.path/);
  assert.match(found[1]?.message ?? "", /`path`/);
  assert.equal(found[3]?.data?.path, "weather.today");
}

async function changes(client: Client, by: string): Promise<void> {
  const path = `notes/${by.toLowerCase()}`;
  const first = await client.pages.save.mutate({ path, title: by, body: "One." });
  const conflict = await refusal(client.pages.save.mutate({ path, body: "Two.", revision: first.revision + 7 }));
  assert.equal(conflict.data?.code, "CONFLICT");
  const second = await client.pages.save.mutate({ path, body: "Two.", revision: first.revision });
  assert.ok(second.revision > first.revision);
  const page = await client.pages.get.query({ path });
  assert.equal(page.body, "Two.");
  const nothing: {} = await client.pages.delete.mutate({ path });
  assert.deepEqual(nothing, {});
}

function subscriber(): Client {
  const split = splitLink({
    condition: (op) => op.type === "subscription",
    true: httpSubscriptionLink({ url: URL_OF_RPC, EventSource }),
    false: httpBatchStreamLink({ url: URL_OF_RPC }),
  });
  return createTRPCClient<AppRouter>({ links: [split] });
}

async function liveUpdates(): Promise<void> {
  const client = subscriber();
  const heard = listener(client, { topics: ["pages"] });
  const ready = await heard.next();
  assert.equal(ready.data.type, "ready");
  const { id } = await client.pages.save.mutate({ path: "notes/live", body: "Hello" });
  const event = await heard.until((frame) => frame.type === "event");
  assert.ok(event.data.type === "event");
  const { topic, kind, seq } = event.data;
  assert.deepEqual([topic, kind, event.data.id, event.id], ["pages", "page.changed", id, String(seq)]);
  heard.stop();
}

async function resuming(): Promise<void> {
  const client = subscriber();
  const first = listener(client, { topics: ["pages"] });
  const ready = await first.next();
  first.stop();
  const saved: string[] = [];
  for (const name of ["a", "b"]) {
    saved.push((await client.pages.save.mutate({ path: `notes/missed-${name}`, body: "Hello" })).id);
  }
  const again = listener(client, { topics: ["pages"], lastEventId: ready.id });
  for (const id of saved) {
    const missed = await again.until((frame) => frame.type === "event");
    assert.ok(missed.data.type === "event" && missed.data.id === id);
  }
  again.stop();
}

async function refusedSubscription(): Promise<void> {
  const error = await new Promise<TRPCClientError<AppRouter>>((resolve, reject) => {
    subscriber().events.live.subscribe(
      { topics: ["weather"] },
      { onError: resolve, onData: () => reject(new Error("it was told something")) },
    );
  });
  assert.equal(error.data?.code, "BAD_REQUEST");
  assert.match(error.message, /weather.*topics/);
}

/** What a subscription tells, one after the other. */
function listener(client: Client, input: { topics: string[]; lastEventId?: string }) {
  const waiting: Told[] = [];
  let failed: unknown;
  let wake = (): void => {};
  const subscription = client.events.live.subscribe(input, {
    onData(value) {
      waiting.push(value);
      wake();
    },
    onError(error) {
      failed = error;
      wake();
    },
  });
  async function next(): Promise<Told> {
    const deadline = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const first = waiting.shift();
      if (first) return first;
      if (failed) throw failed;
      await new Promise<void>((resolve, reject) => {
        wake = resolve;
        deadline.addEventListener("abort", () => reject(new Error("nothing was told")), { once: true });
      });
    }
  }
  async function until(wanted: (frame: Frame) => boolean): Promise<Told> {
    for (;;) {
      const one = await next();
      if (wanted(one.data)) return one;
    }
  }
  return { next, until, stop: () => subscription.unsubscribe() };
}

async function refusal(promise: Promise<unknown>): Promise<TRPCClientError<AppRouter>> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof TRPCClientError) return error as TRPCClientError<AppRouter>;
    throw error;
  }
  throw new Error("it was not refused");
}
