// @ts-check
/**
 * Which row is selected, which sections are folded, and what moving means.
 *
 * The selection is a thread, not a position: rows that come and go above it leave it where it is. Owns the two signals.
 */
import { signal } from "@preact/signals";
import { place } from "../router.js";
import { listOf } from "./lists.js";

/** The page's sections, in order. @type {{ section: Section, title: string }[]} */
export const SECTIONS = [
  { section: "inbox", title: "Inbox" },
  { section: "skipped", title: "Skipped the inbox" },
];

export const selectedId = signal(/** @type {string | null} */ (null));
/** Moves when the selected row should take the focus, too. */
export const focusWanted = signal(0);
export const folded = signal(/** @type {Section[]} */ ([]));

/** @param {Section} section */
export function toggleSection(section) {
  folded.value = folded.value.includes(section)
    ? folded.value.filter((one) => one !== section)
    : [...folded.value, section];
}

/** The lists of the current tab, folded ones left out. */
export function openLists() {
  const accountId = place.value.page === "mail" ? place.value.accountId : null;
  return SECTIONS.filter(({ section }) => !folded.value.includes(section)).map(({ section }) => listOf(section, accountId));
}

/** @returns {Thread | null} */
export function selectedThread() {
  const id = selectedId.value;
  for (const list of id === null ? [] : openLists()) {
    const row = list.get(/** @type {string} */ (id));
    if (row) return row;
  }
  return null;
}

/**
 * The row a step away from the given thread, across sections; without one, the first row.
 * @param {string | null} id
 * @param {1 | -1} step
 * @returns {Thread | null}
 */
export function neighbour(id, step) {
  const lists = openLists();
  const current = lists.findIndex((list) => id !== null && list.get(id) !== null);
  const list = lists[current];
  if (!list || id === null) return lists.find((one) => one.rows.length)?.rows[0] ?? null;
  const within = list.rows[list.indexOf(id) + step];
  if (within) return within;
  if (step > 0 && !list.complete) {
    void list.more();
    return null;
  }
  const beyond = step > 0 ? lists.slice(current + 1) : lists.slice(0, current).reverse();
  for (const other of beyond) {
    other.start();
    const row = step > 0 ? other.rows[0] : other.rows.at(-1);
    if (row) return row;
  }
  return null;
}

/** What is selected once this thread has left its section: the next row there, else the one before. @param {string} id */
export function heirOf(id) {
  for (const list of openLists()) {
    const at = list.indexOf(id);
    if (at >= 0) return list.rows[at + 1] ?? list.rows[at - 1] ?? null;
  }
  return null;
}

/**
 * @param {string | null} id
 * @param {{ focus?: boolean }} [how]
 */
export function select(id, { focus = false } = {}) {
  selectedId.value = id;
  if (focus) focusWanted.value += 1;
}
