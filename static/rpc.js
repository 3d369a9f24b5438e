// @ts-check
/**
 * The RPC client: the tRPC 11 wire over fetch.
 *
 * Calls made in one turn of the event loop share a request (`?batch=1`); queries and mutations never mix. An answer 401
 * means that this browser is not (or no longer) logged in: it goes to /login. Owns the pending queue, and whether the
 * person is signing out; it caches nothing and repeats nothing. If the server can't be reached, the stand-in answers a
 * query, if there is one (stand_in.js). The live updates are told how new each answer is, so that they begin there.
 */

import { asking } from "./live.js";
import { standIn } from "./stand_in.js";

const MAX_BATCH_ITEMS = 10;
const MAX_URL_CHARS = 2_000;
const QUERY_TIMEOUT_MS = 30_000;
/** The longest time that the way to the login page waits until the last acts are stored. */
const STORE_WITHIN_MS = 2_500;
/** The newest live update before the server made an answer. */
const SEQ_HEADER = "x-svc-seq";

/** A refused or failed call. `code` is tRPC's, or OFFLINE when no answer came. */
export class RpcError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {Record<string, unknown>} [data] the server's data for a next step
   */
  constructor(code, message, data = {}) {
    super(message);
    this.name = "RpcError";
    this.code = code;
    this.data = data;
  }
}

/**
 * @typedef {{ name: ProcedureName, input: unknown, resolve: (value: any) => void, reject: (error: Error) => void }}
 * Pending
 * @typedef {{ result?: { data?: unknown }, error?: { message?: string, data?: Record<string, unknown> & { code?:
 * string, httpStatus?: number } } }} Envelope
 */

/** @type {{ query: Pending[], mutation: Pending[] }} */
const waiting = { query: [], mutation: [] };
let leaving = false;
/** The answer to what index.html has asked, until it is passed on. */
let passedOn = Promise.resolve();
let goingToLogin = false;

/**
 * @template {ProcedureName} Name
 * @param {Name} name
 * @param {InputOf<Name>} [input]
 * @returns {Promise<OutputOf<Name>>}
 */
export function query(name, input) {
  return enqueue("query", name, input);
}

/**
 * A query in its own request: for calls that may take long, so that quick ones do not wait for them.
 * @template {ProcedureName} Name
 * @param {Name} name
 * @param {InputOf<Name>} [input]
 * @param {{ signal?: AbortSignal }} [options] signal: cancels the request; the server stops working on it, too
 * @returns {Promise<OutputOf<Name>>}
 */
export function queryAlone(name, input, { signal } = {}) {
  return new Promise((resolve, reject) => void send("query", [{ name, input, resolve, reject }], signal));
}

/**
 * @template {ProcedureName} Name
 * @param {Name} name
 * @param {InputOf<Name>} [input]
 * @returns {Promise<OutputOf<Name>>}
 */
export function mutate(name, input) {
  return enqueue("mutation", name, input);
}

/**
 * Sends a mutation while the page is being left: it outlives the page, and its answer is ignored.
 * @template {ProcedureName} Name
 * @param {Name} name
 * @param {InputOf<Name>} input
 */
export function mutateAtLast(name, input) {
  const { url, init } = mutationRequest([{ name, input, resolve: () => undefined, reject: () => undefined }]);
  void fetch(url, { ...init, keepalive: true, credentials: "same-origin" }).catch(() => undefined);
}

/** A new key for an action that is done once, even if it is sent several times (`idempotencyKey`). */
export function newIdempotencyKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(5)), (one) => one.toString(36)).join("-");
}

/**
 * Goes to the login page, which leads back here afterwards, once what the person did last is stored. It replaces the
 * page in the history, since that may no longer be shown.
 */
export function goToLogin() {
  if (leaving || goingToLogin || location.pathname === "/login") return;
  goingToLogin = true;
  const go = () => {
    goingToLogin = false; // where the browser refuses to go, the next refused call tries again
    if (!leaving) location.replace(`/login?next=${encodeURIComponent(location.pathname + location.search)}`);
  };
  const inTime = new Promise((done) => setTimeout(done, STORE_WITHIN_MS));
  void Promise.race([standIn()?.strangerCame(), inTime]).then(go, go);
}

/**
 * Notes that sign-out is under way. It ends the session before its answer is here, and a refused query or the closed
 * socket may notice that first: meanwhile nothing of that kind leaves the page, or the answer would be lost.
 * @param {boolean} now
 */
export function setLeaving(now) {
  leaving = now;
}

/** Whether the person is signing out: from then on this browser stores nothing of theirs. */
export function isLeaving() {
  return leaving;
}

/**
 * @param {"query" | "mutation"} kind
 * @param {ProcedureName} name
 * @param {unknown} input
 * @returns {Promise<any>}
 */
function enqueue(kind, name, input) {
  return new Promise((resolve, reject) => {
    if (waiting[kind].push({ name, input, resolve, reject }) === 1) queueMicrotask(() => flush(kind));
  });
}

/** @param {"query" | "mutation"} kind */
function flush(kind) {
  const calls = kind === "query" ? withoutAsked(waiting.query) : waiting.mutation;
  waiting[kind] = [];
  /** @type {Pending[]} */
  let batch = [];
  let size = 0;
  for (const call of calls) {
    const length = call.name.length + encodeURIComponent(JSON.stringify(call.input ?? null)).length + 16;
    if (batch.length === MAX_BATCH_ITEMS || (kind === "query" && batch.length && size + length > MAX_URL_CHARS)) {
      void send(kind, batch);
      batch = [];
      size = 0;
    }
    batch.push(call);
    size += length;
  }
  if (batch.length) void send(kind, batch);
}

/**
 * Resolves when what index.html has asked is answered and passed on; at once where it has asked nothing. Called before
 * the first queries are sent.
 */
export async function askedBefore() {
  await window.svcAsked?.answer;
  await passedOn;
}

/**
 * Returns the first queries that must still be sent: index.html sent some before this module was loaded. If those are
 * not among the first queries, their answer is not used.
 * @param {Pending[]} calls
 */
function withoutAsked(calls) {
  const asked = window.svcAsked;
  delete window.svcAsked;
  const found = (asked?.calls ?? []).flatMap(([name, input]) => calls.find((one) => one.name === name
    && JSON.stringify(one.input) === JSON.stringify(input)) ?? []);
  if (!asked || found.length < asked.calls.length) return calls;
  passedOn = send("query", found, undefined, asked.answer);
  return calls.filter((one) => !found.includes(one));
}

/**
 * @param {"query" | "mutation"} kind
 * @param {Pending[]} calls
 * @param {AbortSignal} [unwanted]
 * @param {Promise<Response | null>} [asked] the response, if they were asked before; null: there was none
 */
async function send(kind, calls, unwanted, asked) {
  const answered = kind === "query" ? asking() : () => undefined;
  try {
    const { envelopes, seq } = await exchange(kind, calls, unwanted, asked);
    answered(seq);
    calls.forEach((call, index) => settle(kind, call, envelopes[index]));
  } catch (error) {
    const failure = error instanceof RpcError ? error : new RpcError("OFFLINE", "The server can't be reached.");
    answered(unwanted?.aborted ? undefined : null);
    const isAway = kind === "query" && failure.code === "OFFLINE" && !unwanted?.aborted;
    for (const call of calls) isAway ? void answerInstead(call, failure) : call.reject(failure);
  }
}

/**
 * @param {"query" | "mutation"} kind
 * @param {Pending[]} calls
 * @param {AbortSignal} [unwanted]
 * @param {Promise<Response | null>} [asked]
 * @returns {Promise<{ envelopes: Envelope[], seq: number | null }>}
 */
async function exchange(kind, calls, unwanted, asked) {
  const { url, init } = kind === "query" ? queryRequest(calls) : mutationRequest(calls);
  const tooLate = AbortSignal.timeout(QUERY_TIMEOUT_MS);
  const signal = unwanted ? AbortSignal.any([tooLate, unwanted]) : tooLate;
  const response = (await asked)
    ?? await fetch(url, { ...init, signal, credentials: "same-origin", cache: "no-store" });
  const body = await response.json().catch(() => {
    throw new RpcError("UNREADABLE", `The server answered ${response.status} without a readable body.`);
  });
  // A layer before the procedures answers a batch with one envelope: it counts for every call in it.
  return { envelopes: Array.isArray(body) ? body : calls.map(() => body), seq: seqOf(response) };
}

/** How new an answer is; null: not known, or some of it was refused. @param {Response} response */
function seqOf({ status, headers }) {
  const said = headers.get(SEQ_HEADER);
  return status === 200 && said !== null ? Number(said) : null;
}

/** @param {Pending[]} calls */
function queryRequest(calls) {
  const [first] = calls;
  const names = calls.map((call) => call.name).join(",");
  if (first && calls.length === 1) {
    const input = first.input === undefined ? "" : `?input=${encodeURIComponent(JSON.stringify(first.input))}`;
    return { url: `/trpc/${names}${input}`, init: {} };
  }
  const input = encodeURIComponent(JSON.stringify(indexed(calls)));
  return { url: `/trpc/${names}?batch=1&input=${input}`, init: {} };
}

/** @param {Pending[]} calls */
function mutationRequest(calls) {
  const [first] = calls;
  const single = calls.length === 1;
  const body = JSON.stringify(single ? (first?.input ?? {}) : indexed(calls));
  const init = { method: "POST", headers: { "content-type": "application/json" }, body };
  return { url: `/trpc/${calls.map((call) => call.name).join(",")}${single ? "" : "?batch=1"}`, init };
}

/** @param {Pending[]} calls */
function indexed(calls) {
  return Object.fromEntries(calls.flatMap((call, index) => (call.input === undefined ? [] : [[index, call.input]])));
}

/** Answers from the stand-in, because the server can't be reached. @param {Pending} call @param {RpcError} failure */
async function answerInstead(call, failure) {
  try {
    const kept = await standIn()?.answer(call.name, call.input);
    if (kept === undefined) call.reject(failure);
    else call.resolve(kept);
  } catch (error) {
    call.reject(error instanceof RpcError ? error : failure);
  }
}

/**
 * @param {"query" | "mutation"} kind
 * @param {Pending} call
 * @param {Envelope | undefined} envelope
 */
function settle(kind, call, envelope) {
  if (envelope?.result) {
    const { data } = envelope.result;
    const other = kind === "query" ? standIn() : null;
    call.resolve(other ? other.heard(call.name, call.input, data) : data);
    return;
  }
  const code = envelope?.error?.data?.code ?? "UNREADABLE";
  if (code === "UNAUTHORIZED") goToLogin();
  const message = envelope?.error?.message || "The server gave an answer that makes no sense.";
  call.reject(new RpcError(code, message, envelope?.error?.data));
}
