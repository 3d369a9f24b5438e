// @ts-check
/** The kinds of mail that triage distinguishes: their names, their keys, and the known kinds of threads. */
import { signal } from "@preact/signals";

/** @typedef {OutputOf<"triage.of">[number]["kind"]} Kind */

/** @type {readonly Kind[]} */
export const KINDS = ["reply", "waiting", "reading", "receipt", "calendar", "other"];
/** @type {Record<Kind, string>} */
export const KIND_WORDS = { reply: "Needs reply", waiting: "Waiting", reading: "Reading", receipt: "Receipts",
  calendar: "Calendar", other: "Other" };
/** The key that sets the kind. @type {Record<Kind, string>} */
export const KIND_KEYS = { reply: "1", waiting: "2", reading: "3", receipt: "4", calendar: "5", other: "6" };

/** Whether the person has triage on; null: not asked yet. */
export const triageOn = signal(/** @type {boolean | null} */ (null));
/** The kind by thread, as far as it was fetched. @type {import("@preact/signals").Signal<ReadonlyMap<string, Kind>>} */
export const kinds = signal(new Map());

/** The most kinds in memory: more than any list shows. */
const MAX_KNOWN = 5_000;

/** When the kind of a thread was last set: its number among all settings. @type {Map<string, number>} */
const toldAt = new Map();
let told = 0;

/** A person or the server sets the kind of these threads. @param {string[]} threadIds @param {Kind} kind */
export function tellKind(threadIds, kind) {
  told += 1;
  if (toldAt.size > MAX_KNOWN) toldAt.clear();
  for (const id of threadIds) toldAt.set(id, told);
  noteKind(threadIds, kind);
}

/**
 * Called before kinds are requested. Returns a function that stores the kinds of the answer, except those that were set
 * meanwhile.
 * @returns {(threadIds: string[], kind: Kind) => void}
 */
export function kindsAsked() {
  const asked = told;
  return (threadIds, kind) => noteKind(threadIds.filter((id) => (toldAt.get(id) ?? 0) <= asked), kind);
}

/** @param {string[]} threadIds @param {Kind} kind */
function noteKind(threadIds, kind) {
  if (!threadIds.length) return;
  const next = new Map(kinds.value);
  for (const id of threadIds) {
    next.delete(id);
    next.set(id, kind);
  }
  for (const id of next.keys()) {
    if (next.size <= MAX_KNOWN) break;
    next.delete(id);
  }
  kinds.value = next;
}

/** @param {string | undefined} word @returns {Kind | null} */
export function kindOf(word) {
  return KINDS.find((one) => one === word) ?? null;
}
