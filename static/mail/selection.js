// @ts-check
/**
 * The selected row, the picked rows for actions on many, the folded sections, and the rules of moving.
 *
 * The selection is a thread, not a position: rows that are added or removed above it do not change it. Owns these
 * signals.
 */
import { batch, signal } from "@preact/signals";
import { SECTIONS_VIEW, mailPlace } from "./address.js";
import { listsOf } from "./lists.js";

/** The most that the server accepts in one step. */
export const MAX_PICKED = 500;
/** The number of rows, of all that match, that show the effect of a step at once. */
const MAX_SHOWN = 2_000;

export const selectedId = signal(/** @type {string | null} */ (null));
/** Changes when the selected row should also take the focus. */
export const focusWanted = signal(0);
/** The names of the folded lists. */
export const folded = signal(/** @type {string[]} */ ([]));
/** The ids of the picked threads; includes threads that have left the lists since. */
export const picked = signal(/** @type {ReadonlySet<string>} */ (new Set()));

/**
 * All threads that match a list, as stored by the server; null: only loaded rows are picked. `newest`: later threads
 * are not included.
 * @typedef {{ id: string, list: import("./lists.js").ThreadList, count: number, complete: boolean, leftOut: boolean,
 *   accountIds: readonly string[], newest: string }} Everything
 */
export const everything = signal(/** @type {Everything | null} */ (null));
/** The list of which all loaded rows are picked. */
const pickedLoaded = signal(/** @type {import("./lists.js").ThreadList | null} */ (null));
/** Arrays of threads that represent all that match. @type {WeakSet<Thread[]>} */
const wholes = new WeakSet();

/** The last thread that was picked or unpicked: a range starts there. @type {string | null} */
let pickedLast = null;

/** @param {string} name */
export function toggleSection(name) {
  folded.value = folded.value.includes(name) ? folded.value.filter((one) => one !== name) : [...folded.value, name];
}

/** The lists of the current tab and view, without folded ones. */
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
 * The row one step from the given thread, across sections; without a thread, the first row.
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

/** The first row, or the last loaded one. @param {1 | -1} end @returns {Thread | null} */
export function outermost(end) {
  const lists = openLists().filter((list) => list.rows.length);
  return (end > 0 ? lists[0]?.rows[0] : lists.at(-1)?.rows.at(-1)) ?? null;
}

/**
 * The thread to select after these threads have left: the next row in the section of the first, else the previous one.
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

/** The picked threads that are still in the current lists, in the order of the lists. */
export function pickedThreads() {
  if (!picked.value.size) return [];
  if (everything.value) {
    const { list } = everything.value;
    const rows = list.rows.filter((row) => isPicked(list, row)).slice(0, MAX_SHOWN);
    wholes.add(rows);
    return rows;
  }
  return openLists().flatMap((list) => {
    const rows = [...picked.value].map((id) => list.get(id)).filter((row) => row !== null);
    return rows.sort((a, b) => list.indexOf(a.id) - list.indexOf(b.id));
  });
}

/** Whether these threads, returned by {@link pickedThreads}, represent all that match. @param {Thread[]} threads */
export function standForAll(threads) {
  return everything.value !== null && wholes.has(threads);
}

/** @param {import("./lists.js").ThreadList} list @param {Thread} thread */
export function isPicked(list, thread) {
  const whole = everything.value;
  return whole?.list === list ? list.timeOf(thread) <= whole.newest : picked.value.has(thread.id);
}

/** The list that is picked completely, or whose rows were all picked when they were loaded. */
export function pickedList() {
  return everything.value?.list ?? pickedLoaded.value;
}

/** Whether more threads match than can be picked here. @param {import("./lists.js").ThreadList} list */
export function holdsMore(list) {
  return list.source.all !== null && (!list.complete || list.isCut || list.rows.length > MAX_PICKED);
}

/** @param {string} id */
export function togglePick(id) {
  const next = new Set(picked.value);
  if (!next.delete(id)) next.add(id);
  setPicks(next);
  pickedLast = id;
}

/** Picks all rows between the last picked (or the selected) one and this one. @param {string} id */
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

/** The section for an action on everything: the one of the selected row, else the first. */
export function currentList() {
  const lists = openLists();
  return lists.find((one) => selectedId.value !== null && one.get(selectedId.value))
    ?? lists.find((one) => one.rows.length) ?? null;
}

/** Picks the loaded rows of a list, the newest first. @param {import("./lists.js").ThreadList} list */
export function pickLoaded(list) {
  batch(() => {
    setPicks(new Set(list.rows.slice(0, MAX_PICKED).map((row) => row.id)));
    pickedLoaded.value = list;
  });
}

/** Picks everything in the list, although much of it is not loaded. @param {Everything} whole */
export function pickWhole(whole) {
  batch(() => {
    pickLoaded(whole.list);
    everything.value = whole;
  });
}

export function clearPicks() {
  pickedLast = null;
  everything.value = null;
  pickedLoaded.value = null;
  if (picked.value.size) picked.value = new Set();
}

/** @param {ReadonlySet<string>} ids */
function setPicks(ids) {
  everything.value = null;
  pickedLoaded.value = null;
  picked.value = ids.size > MAX_PICKED ? new Set([...ids].slice(0, MAX_PICKED)) : ids;
}
