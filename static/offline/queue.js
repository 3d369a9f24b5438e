// @ts-check
/**
 * What a person did and the server does not know yet, in the person's order: told once there is a link, each once.
 *
 * Theory. Each act has a key of its own from the beginning (`idempotencyKey`); the server does it once for that key, so
 * that whoever lost an answer may say it again. While nothing waits, an act is told at once; one that can't be is kept,
 * and so is all that follows it. One tab at a time tells (a Web Lock), the oldest first, and takes each away when it is
 * answered. A refusal is no reason to stop: it is said (`onRefusal`), and the next one is told.
 *
 * Where nothing can be kept (no service worker, a private window) an act is an ordinary call.
 */
import { signal } from "@preact/signals";
import { RpcError, mutate, newIdempotencyKey } from "../rpc.js";
import { waits } from "../stand_in.js";
import { isStillMe } from "./owner.js";
import { all, inStore } from "./store.js";

const LOCK = "svc-offline-queue";
const NEWS = "svc-offline-queue";
/** The server knows a key for 30 days: what was tried before that may have been done, and is not said again. */
const SURE_FOR_MS = 25 * 86_400_000;
/** What the server refuses for good; all else may pass later. */
const FINAL = new Set(["BAD_REQUEST", "FORBIDDEN", "NOT_FOUND", "CONFLICT", "PAYLOAD_TOO_LARGE",
  "PRECONDITION_FAILED"]);

/**
 * @typedef {object} Act
 * @property {number} [seq] its place, given when it is kept
 * @property {ProcedureName} name
 * @property {any} input with its idempotency key
 * @property {number} at ms since the epoch
 * @property {number} triedAt when it was first told, and nobody knows with what end; 0: never
 * @property {any} about whatever who did it wants back
 */

/** In the person's order. */
export const queue = signal(/** @type {Act[]} */ ([]));
/** Who hears of an act that was refused, by procedure, and "" for all others. @type {Map<string, Refused>} */
const refusals = new Map();
/** @typedef {(act: Act, why: string) => Promise<void> | void} Refused */

let isOn = false;
/** @type {BroadcastChannel | null} */
let others = null;

/** From here on acts may wait. Called once. */
export async function startQueue() {
  others = new BroadcastChannel(NEWS);
  others.onmessage = () => void reload();
  await reload();
  isOn = true;
}

/** Whether an act that can't be told is kept. */
export function mayWait() {
  return isOn;
}

/** @param {string} name @param {Refused} hear */
export function onRefusal(name, hear) {
  refusals.set(name, hear);
}

/**
 * Tell the server, or keep it for later. Resolves to its answer, or to undefined where it waits.
 * @template {ProcedureName} Name
 * @param {Name} name
 * @param {InputOf<Name>} input
 * @param {unknown} [about]
 * @returns {Promise<OutputOf<Name> | undefined>}
 */
export async function act(name, input, about = null) {
  if (!isOn) return mutate(name, input);
  /** @type {Act} */
  const mine = { name, input: { ...input, idempotencyKey: newIdempotencyKey() }, at: Date.now(), triedAt: 0, about };
  if (!queue.value.length && navigator.onLine) {
    try {
      return await mutate(name, mine.input);
    } catch (error) {
      if (!isAway(error)) throw error;
      mine.triedAt = mine.at;
    }
  }
  await inStore(["queue"], "readwrite", (of) => of("queue").add(mine));
  await changed();
  void settle();
  return undefined;
}

/**
 * Take the newest act back that was not told, with those that are one step with it.
 * @param {(act: Act) => boolean} wanted
 * @returns {Promise<Act[]>} what was taken back; nothing where the newest may have been told
 */
export async function takeBackNewest(wanted) {
  const newest = queue.value.findLast(wanted);
  if (!newest) return [];
  const group = newest.input.group;
  const step = queue.value.filter((one) => one === newest || (group && one.input.group === group));
  const taken = await takeAway(step);
  await changed();
  return taken;
}

/** Tell everything that waits, in order, until one can't be told. Safe to call at any time. */
export async function settle() {
  if (!isOn || !queue.value.length) return;
  await navigator.locks.request(LOCK, { ifAvailable: true }, async (lock) => {
    if (!lock || !(await isStillMe())) return;
    for (;;) {
      const [next] = await all("queue");
      if (!next || !(await tell(next))) break;
    }
    await changed();
  });
}

/** Whether it is done with. @param {Act} next */
async function tell(next) {
  const sure = !next.triedAt || Date.now() - next.triedAt < SURE_FOR_MS;
  const told = { ...next, triedAt: next.triedAt || Date.now() };
  const still = await inStore(["queue"], "readwrite", (of) => {
    const table = of("queue");
    const known = table.get(/** @type {number} */ (next.seq));
    known.onsuccess = () => known.result && table.put(told);
    return known;
  });
  if (!still) return true; // taken back meanwhile
  try {
    if (!sure) throw new RpcError("CONFLICT", "It waited too long to know whether it was done.");
    await mutate(next.name, next.input);
  } catch (error) {
    if (!(error instanceof RpcError) || !FINAL.has(error.code)) return false;
    if (!(await isSaid(next, error.message))) return false;
  }
  await inStore(["queue"], "readwrite", (of) => of("queue").delete(/** @type {number} */ (next.seq)));
  await changed();
  return true;
}

/** Who has to make something of a refusal may not be able to yet. @param {Act} refused @param {string} why */
async function isSaid(refused, why) {
  try {
    await (refusals.get(refused.name) ?? refusals.get(""))?.(refused, why);
    return true;
  } catch {
    return false;
  }
}

/** @param {Act[]} step */
async function takeAway(step) {
  /** @type {Act[]} */
  const taken = [];
  await inStore(["queue"], "readwrite", (of) => {
    const table = of("queue");
    for (const { seq = -1 } of step) {
      const known = table.get(seq);
      known.onsuccess = () => {
        if (!known.result || known.result.triedAt) return;
        taken.push(known.result);
        table.delete(seq);
      };
    }
  });
  return taken;
}

async function changed() {
  await reload();
  others?.postMessage("changed");
}

async function reload() {
  queue.value = await all("queue");
  waits.value = queue.value.length;
}

/** @param {unknown} error */
export function isAway(error) {
  return error instanceof RpcError && error.code === "OFFLINE";
}
