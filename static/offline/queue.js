// @ts-check
/**
 * The queue of acts that the server does not know yet, in the person's order: sent once there is a connection, each
 * done once.
 *
 * Theory. Each act has its own key from the beginning (`idempotencyKey`); the server does it once for that key, so it
 * may be sent again if the answer was lost. While the queue is empty, an act is sent at once; one that can't be sent is
 * stored, and so are all that follow it. So is an act that is refused because the session has ended: the login page
 * waits for that (`allStored`), and the act is sent after the next login of the same person. One tab at a time sends (a
 * Web Lock), the oldest first, and removes each act when it is answered. A refusal does not stop the queue: it is
 * reported (`onRefusal`), and the next act is sent.
 *
 * Where nothing can be stored (no service worker, a private window) an act is an ordinary call.
 */
import { signal } from "@preact/signals";
import { RpcError, isLeaving, mutate, newIdempotencyKey } from "../rpc.js";
import { waits } from "../stand_in.js";
import { isOfThisPage, isStillMe } from "./owner.js";
import { all, inStore } from "./store.js";

const LOCK = "svc-offline-queue";
const NEWS = "svc-offline-queue";
/**
 * The server keeps a key for 30 days: an act that was first tried longer ago than this may have been done, and is not
 * sent again.
 */
const SURE_FOR_MS = 25 * 86_400_000;
/** Final refusals of the server; all other errors may pass. */
const FINAL = new Set(["BAD_REQUEST", "FORBIDDEN", "NOT_FOUND", "CONFLICT", "PAYLOAD_TOO_LARGE",
  "PRECONDITION_FAILED"]);

/**
 * @typedef {object} Act
 * @property {number} [seq] its position, assigned when it is stored
 * @property {ProcedureName} name
 * @property {any} input with its idempotency key
 * @property {number} at ms since the epoch
 * @property {number} triedAt when it was first sent, with an unknown result; 0: never
 * @property {any} about data for the caller, passed back to it
 */

/** The queued acts, in the person's order. */
export const queue = signal(/** @type {Act[]} */ ([]));
/** The handlers of refused acts, by procedure, and "" for all others. @type {Map<string, Refused>} */
const refusals = new Map();
/** @typedef {(act: Act, why: string) => Promise<void> | void} Refused */

/** The acts that are neither answered nor stored. @type {Set<Promise<unknown>>} */
const underWay = new Set();
let isOn = false;
/** @type {BroadcastChannel | null} */
let others = null;

/** Starts the queue: from here on acts may wait. Called once. */
export async function startQueue() {
  others = new BroadcastChannel(NEWS);
  others.onmessage = () => void reload();
  await reload();
  isOn = true;
}

/** Whether an act that can't be sent is stored. */
export function mayWait() {
  return isOn;
}

/** @param {string} name @param {Refused} hear */
export function onRefusal(name, hear) {
  refusals.set(name, hear);
}

/**
 * Sends an act, or stores it for later. Resolves to the server's answer, or to undefined if it waits.
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
  const done = sendOrStore(mine);
  underWay.add(done);
  try {
    return await done;
  } finally {
    underWay.delete(done);
  }
}

/** Resolves once every act is answered or stored, also those that another one or a refused call leads to. */
export async function allStored() {
  await nextTurn(); // the refused call is heard only after this
  while (underWay.size) {
    await Promise.allSettled(underWay);
    await nextTurn(); // what waited for these begins
  }
}

function nextTurn() {
  return new Promise((turn) => setTimeout(turn));
}

/** Resolves to the server's answer, or to undefined if the act is stored. @param {Act} mine */
async function sendOrStore(mine) {
  if (!queue.value.length && navigator.onLine) {
    try {
      return await mutate(mine.name, mine.input);
    } catch (error) {
      if (!mayPass(error) || isLeaving()) throw error;
      if (isAway(error)) mine.triedAt = mine.at;
    }
  }
  await store(mine);
  await changed();
  void settle();
  return undefined;
}

/** Stores an act, unless the data here is another person's by now. @param {Act} mine */
async function store(mine) {
  let stored = false;
  await inStore(["facts", "queue"], "readwrite", (of) => {
    const owner = of("facts").get("owner");
    owner.onsuccess = () => {
      stored = isOfThisPage(owner.result);
      if (stored) of("queue").add(mine);
    };
  });
  if (!stored) throw new RpcError("UNAUTHORIZED", "Somebody else is signed in now.");
}

/**
 * Takes back the newest unsent act, with the other acts of the same step.
 * @param {(act: Act) => boolean} wanted
 * @returns {Promise<Act[]>} the acts that were taken back; none if the newest may have been sent
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

/** Sends the queued acts, in order, until one can't be sent. Safe to call at any time. */
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

/** Sends one act. Resolves to whether it is finished. @param {Act} next */
async function tell(next) {
  const sure = !next.triedAt || Date.now() - next.triedAt < SURE_FOR_MS;
  const told = { ...next, triedAt: next.triedAt || Date.now() };
  const still = await inStore(["queue"], "readwrite", (of) => {
    const table = of("queue");
    const known = table.get(/** @type {number} */ (next.seq));
    known.onsuccess = () => known.result && table.put(told);
    return known;
  });
  if (!still) return true; // it was taken back meanwhile
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

/**
 * Reports a refusal to its handler. Resolves to whether that worked: the handler may not be able to yet.
 * @param {Act} refused
 * @param {string} why
 */
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

/**
 * Whether the same call may succeed later: the server was not reached, or the session has ended.
 * @param {unknown} error
 */
export function mayPass(error) {
  return isAway(error) || (error instanceof RpcError && error.code === "UNAUTHORIZED");
}
