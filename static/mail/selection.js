// @ts-check
/**
 * Which row is selected, which are picked for a step on many, which sections are folded, and what moving means.
 *
 * The selection is a thread, not a position: rows that come and go above it leave it where it is. Owns these signals.
 */
import { signal } from "@preact/signals";
import { SECTIONS_VIEW, mailPlace } from "./address.js";
import { listsOf } from "./lists.js";

/** As many as the server takes in one step. */
export const MAX_PICKED = 500;

export const selectedId = signal(/** @type {string | null} */ (null));
/** Moves when the selected row should take the focus, too. */
export const focusWanted = signal(0);
/** Names of lists. */
export const folded = signal(/** @type {string[]} */ ([]));
/** Ids of the threads that the next step is for; those that have left the lists since are among them. */
export const picked = signal(/** @type {ReadonlySet<string>} */ (new Set()));

/** The last one that was picked or let go: a range begins there. @type {string | null} */
let pickedLast = null;

/** @param {string} name */
export function toggleSection(name) {
  folded.value = folded.value.includes(name) ? folded.value.filter((one) => one !== name) : [...folded.value, name];
}

/** The lists of the current tab and view, folded ones left out. */
export function openLists() {
  const here = mailPlace.value;
  const lists = listsOf(here?.view ?? SECTIONS_VIEW, here?.accountId ?? null);
  return lists.filter((list) => !folded.value.includes(list.name));
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

/**
 * What is selected once these threads have left: the next row of the section of the first, else the one before.
 * @param {string[]} ids
 */
export function heirOf(ids) {
  const leaving = new Set(ids);
  for (const list of openLists()) {
    const at = list.indexOf(ids[0] ?? "");
    if (at < 0) continue;
    const stays = (/** @type {Thread} */ row) => !leaving.has(row.id);
    return list.rows.slice(at + 1, at + 1 + MAX_PICKED).find(stays) ?? list.rows.slice(0, at).findLast(stays) ?? null;
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

/** The picked threads that are still in sight of this page, in the order of the lists. */
export function pickedThreads() {
  if (!picked.value.size) return [];
  return openLists().flatMap((list) => {
    const rows = [...picked.value].map((id) => list.get(id)).filter((row) => row !== null);
    return rows.sort((a, b) => list.indexOf(a.id) - list.indexOf(b.id));
  });
}

/** @param {string} id */
export function togglePick(id) {
  const next = new Set(picked.value);
  if (!next.delete(id)) next.add(id);
  setPicks(next);
  pickedLast = id;
}

/** Pick all rows between the one picked last (or the selected one) and this one. @param {string} id */
export function pickTo(id) {
  for (const list of openLists()) {
    const to = list.indexOf(id);
    const from = list.indexOf(pickedLast ?? selectedId.value ?? id);
    if (to < 0) continue;
    const first = from < 0 ? to : Math.min(from, to);
    const rows = list.rows.slice(first, (from < 0 ? to : Math.max(from, to)) + 1);
    setPicks(new Set([...picked.value, ...rows.map((row) => row.id)]));
  }
  pickedLast = id;
}

/** Pick what the selected row's section holds so far, the newest first; or nothing, if that is so. Returns how many. */
export function pickAll() {
  const lists = openLists();
  const list = lists.find((one) => selectedId.value !== null && one.get(selectedId.value))
    ?? lists.find((one) => one.rows.length);
  const ids = list?.rows.slice(0, MAX_PICKED).map((row) => row.id) ?? [];
  const all = ids.every((id) => picked.value.has(id));
  setPicks(new Set(all ? [] : ids));
  return all ? 0 : ids.length;
}

export function clearPicks() {
  pickedLast = null;
  if (picked.value.size) picked.value = new Set();
}

/** @param {ReadonlySet<string>} ids */
function setPicks(ids) {
  picked.value = ids.size > MAX_PICKED ? new Set([...ids].slice(0, MAX_PICKED)) : ids;
}
