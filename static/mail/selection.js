// @ts-check
/**
 * Which row is selected, which are picked for a step on many, which sections are folded, and what moving means.
 *
 * The selection is a thread, not a position: rows that come and go above it leave it where it is. Owns these signals.
 */
import { batch, signal } from "@preact/signals";
import { SECTIONS_VIEW, mailPlace } from "./address.js";
import { listsOf } from "./lists.js";

/** As many as the server takes in one step. */
export const MAX_PICKED = 500;
/** Of all that match, as many rows show at once what a step does. */
const MAX_SHOWN = 2_000;

export const selectedId = signal(/** @type {string | null} */ (null));
/** Moves when the selected row should take the focus, too. */
export const focusWanted = signal(0);
/** Names of lists. */
export const folded = signal(/** @type {string[]} */ ([]));
/** Ids of the threads that the next step is for; those that have left the lists since are among them. */
export const picked = signal(/** @type {ReadonlySet<string>} */ (new Set()));

/**
 * All that match a list, as the server has written them down; null: no more is picked than what is here.
 * `newest`: what came later is not among them.
 * @typedef {{ id: string, list: import("./lists.js").ThreadList, count: number, complete: boolean, leftOut: boolean,
 *   accountIds: readonly string[], newest: string }} Everything
 */
export const everything = signal(/** @type {Everything | null} */ (null));
/** The list of which all that was loaded is picked. */
const pickedLoaded = signal(/** @type {import("./lists.js").ThreadList | null} */ (null));
/** Threads that stand for all that match. @type {WeakSet<Thread[]>} */
const wholes = new WeakSet();

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

/** The first row of all, or the last that is here. @param {1 | -1} end @returns {Thread | null} */
export function outermost(end) {
  const lists = openLists().filter((list) => list.rows.length);
  return (end > 0 ? lists[0]?.rows[0] : lists.at(-1)?.rows.at(-1)) ?? null;
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

/** Whether these, as {@link pickedThreads} gave them, stand for all that match. @param {Thread[]} threads */
export function standForAll(threads) {
  return everything.value !== null && wholes.has(threads);
}

/** @param {import("./lists.js").ThreadList} list @param {Thread} thread */
export function isPicked(list, thread) {
  const whole = everything.value;
  return whole?.list === list ? list.timeOf(thread) <= whole.newest : picked.value.has(thread.id);
}

/** The list of which all is picked, or what was loaded when that was asked for. */
export function pickedList() {
  return everything.value?.list ?? pickedLoaded.value;
}

/** Whether more match than can be picked here. @param {import("./lists.js").ThreadList} list */
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

/** The section that a step on all of it is for: that of the selected row, else the first. */
export function currentList() {
  const lists = openLists();
  return lists.find((one) => selectedId.value !== null && one.get(selectedId.value))
    ?? lists.find((one) => one.rows.length) ?? null;
}

/** Pick what a list holds so far, the newest first. @param {import("./lists.js").ThreadList} list */
export function pickLoaded(list) {
  batch(() => {
    setPicks(new Set(list.rows.slice(0, MAX_PICKED).map((row) => row.id)));
    pickedLoaded.value = list;
  });
}

/** All of it is picked, and much of it is not here. @param {Everything} whole */
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
