// @ts-check
/**
 * Threads with their messages: fetched when opened (or shortly before), cached for a few threads, fetched again when
 * they change.
 *
 * Owns the cache and the open thread, as a signal.
 */
import { signal } from "@preact/signals";
import { RpcError, queryAlone } from "../rpc.js";

const MAX_KEPT = 20;

/** @typedef {{ id: string, detail: ThreadDetail | null, problem: string | null, gone: boolean }} Opened */

export const opened = signal(/** @type {Opened | null} */ (null));

/** @type {Map<string, Promise<ThreadDetail>>} */
const cache = new Map();
/** The newest fetch of the open thread: the answer to an older one may arrive after it, and is out of date. */
let newest = /** @type {Promise<ThreadDetail> | null} */ (null);

/**
 * Shows a thread: at once if it is cached, else once it is fetched. Returns it, or null if another was opened
 * meanwhile.
 * @param {string} id
 */
export async function show(id) {
  if (opened.value?.id !== id) opened.value = { id, detail: null, problem: null, gone: false };
  const asked = detailOf(id);
  newest = asked;
  try {
    const detail = await asked;
    if (opened.value?.id !== id) return null;
    if (newest !== asked) return await newest.catch(() => null);
    opened.value = { id, detail, problem: null, gone: false };
    return detail; // it has another id if the thread was merged into another
  } catch (error) {
    if (opened.value?.id === id && newest === asked) {
      const gone = error instanceof RpcError && error.code === "NOT_FOUND";
      const detail = gone ? null : opened.value.detail;
      opened.value = { id, detail, problem: error instanceof Error ? error.message : String(error), gone };
    }
    return null;
  }
}

export function close() {
  opened.value = null;
}

/** Fetches a thread that is likely to be opened next. @param {string} id */
export function prefetch(id) {
  detailOf(id).catch(() => undefined);
}

/**
 * Fetches a thread's current row from the server, without waiting for live events; null if that fails.
 * @param {string} id
 */
export async function latest(id) {
  cache.delete(id);
  const detail = await detailOf(id).catch(() => null);
  return detail?.thread ?? null;
}

/**
 * The thread changed on the server. An open thread stays on the screen until its new state is here.
 * @param {Thread} thread
 */
export function threadMoved(thread) {
  const current = opened.value;
  if (current?.id === thread.id && current.detail) {
    const before = current.detail.thread;
    const sameMessages =
      before.messageCount === thread.messageCount &&
      before.draftCount === thread.draftCount &&
      before.lastMessageAt === thread.lastMessageAt &&
      before.draft?.at === thread.draft?.at;
    opened.value = { ...current, detail: { ...current.detail, thread } };
    cache.set(thread.id, Promise.resolve({ ...current.detail, thread }));
    if (sameMessages) return;
  }
  cache.delete(thread.id);
  if (current?.id === thread.id) void show(thread.id);
}

/**
 * Fetches a thread again: it was deleted, was merged into another (the server redirects), or shows more.
 * @param {string} id
 */
export function refetchDetail(id) {
  cache.delete(id);
  if (opened.value?.id === id) void show(id);
}

/** Fetches the threads again, after a gap in the live updates. */
export function refetchDetails() {
  cache.clear();
  if (opened.value) void show(opened.value.id);
}

/** Fetches the open thread again if that failed. */
export function tryDetailAgain() {
  if (opened.value?.problem && !opened.value.gone) void show(opened.value.id);
}

/** @param {string} id */
function detailOf(id) {
  let known = cache.get(id);
  if (known) cache.delete(id);
  else {
    known = queryAlone("mail.thread", { id });
    const asked = known;
    asked.catch(() => {
      if (cache.get(id) === asked) cache.delete(id);
    });
  }
  cache.set(id, known); // the most recently used is last
  for (const old of cache.keys()) {
    if (cache.size <= MAX_KEPT) break;
    cache.delete(old);
  }
  return known;
}
