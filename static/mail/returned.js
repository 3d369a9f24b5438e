// @ts-check
/**
 * Threads that came back from a snooze and were not opened yet. The server forgets a snooze when it ends; this browser
 * remembers those it saw, so that a returned thread shows why it is here. Owns that memory.
 */
import { signal } from "@preact/signals";

const KEY = "svc.snoozes";
const MAX_KEPT = 500;
/** A thread that returns more than this before its time was brought back by hand. */
const SLACK_MS = 5_000;
const BACK = "back";

/** Thread id -> the end of the snooze, or that it has returned. @type {Map<string, string>} */
const seen = new Map(stored());

export const returned = signal(new Set([...seen].filter(([, until]) => until === BACK).map(([id]) => id)));

/** Takes over the new state of a thread. @param {Thread} thread */
export function noteSnooze({ id, snoozedUntil, inInbox }) {
  const until = seen.get(id);
  if (until === undefined && snoozedUntil === null) return;
  if (snoozedUntil !== null) {
    if (until !== snoozedUntil) remember(id, snoozedUntil);
  } else if (!inInbox) forget(id);
  else if (until !== BACK) {
    if (Date.parse(until ?? "") <= Date.now() + SLACK_MS) remember(id, BACK);
    else forget(id);
  }
}

/** The thread was opened. @param {string} id */
export function welcome(id) {
  if (seen.get(id) === BACK) forget(id);
}

/** @param {string} id @param {string} until */
function remember(id, until) {
  seen.delete(id);
  seen.set(id, until);
  for (const old of seen.keys()) {
    if (seen.size <= MAX_KEPT) break;
    seen.delete(old);
  }
  changed();
}

/** @param {string} id */
function forget(id) {
  if (seen.delete(id)) changed();
}

function changed() {
  const back = [...seen].filter(([, until]) => until === BACK).map(([id]) => id);
  if (back.join() !== [...returned.value].join()) returned.value = new Set(back);
  try {
    localStorage.setItem(KEY, JSON.stringify([...seen]));
  } catch {
    // If the browser stores nothing for us, this lasts until it is closed.
  }
}

/** @returns {[string, string][]} */
function stored() {
  try {
    const found = /** @type {unknown} */ (JSON.parse(localStorage.getItem(KEY) ?? "[]"));
    if (!Array.isArray(found)) return [];
    return found.flatMap((one) => (Array.isArray(one) && typeof one[0] === "string" && typeof one[1] === "string"
      ? [/** @type {[string, string]} */ ([one[0], one[1]])] : []));
  } catch {
    return [];
  }
}
