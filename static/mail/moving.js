// @ts-check
/** Where the person is on the mail page, and going from there: open, back, up and down, and on after a step. */
import { navigate } from "../router.js";
import { SECTIONS_VIEW, mailPath, mailPlace } from "./address.js";
import { split } from "../ui/media.js";
import { opened } from "./details.js";
import { knownThread, listsOf } from "./lists.js";
import { narrowed, withWords } from "./query_words.js";
import { clearPicks, heirOf, neighbour, openLists, outermost, picked, pickedThreads, select, selectedId, selectedThread,
  togglePick } from "./selection.js";

/** A filter of lists as a search says it. @type {Record<import("./address.js").Filter, string>} */
const FILTER_WORD = { "unread": "is:unread", "to-me": "to:me", "attachment": "has:attachment",
  "starred": "is:starred" };
const AFTER_KEY = "svc.after";

export function currentAccountId() {
  return mailPlace.value?.accountId ?? null;
}

/** @returns {import("./address.js").View} */
export function currentView() {
  return mailPlace.value?.view ?? SECTIONS_VIEW;
}

export function openId() {
  return mailPlace.value?.threadId ?? null;
}

/** Whether rows can be seen and picked. */
export function listShown() {
  return openId() === null || split.value;
}

/** What a step is for: the picked threads, else the open one, else the selected one. @returns {Thread[]} */
export function targets() {
  const many = listShown() ? pickedThreads() : [];
  if (many.length) return many;
  const one = current();
  return one ? [one] : [];
}

/** The open or selected thread; an open one may lie further down than was fetched. @returns {Thread | null} */
export function current() {
  const id = openId();
  if (id === null) return selectedThread();
  return knownThread(id) ?? (opened.value?.id === id ? (opened.value.detail?.thread ?? null) : null);
}

/** @param {Thread} thread */
export function openRow(thread) {
  select(thread.id);
  navigate(mailPath(currentAccountId(), thread.id, currentView()), { replace: openId() !== null });
}

export function openSelected() {
  const thread = selectedThread();
  if (thread) openRow(thread);
}

/** Out of the thread, else out of the filter, else out of what was looked for, to the inbox. */
export function back() {
  const from = openId();
  // The row gets the focus. Were it taken away with its element, the browser would lay the page out once more for it.
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  const { only, ...whole } = currentView();
  const next = from !== null ? currentView() : only ? whole : SECTIONS_VIEW;
  navigate(mailPath(currentAccountId(), null, next));
  select(from ?? selectedId.value, { focus: true });
}

/** Show only what passes the filter; the same one again: everything. @param {import("./address.js").Filter} only */
export function narrowTo(only) {
  const { only: before, ...view } = currentView();
  if (view.kind === "search" && !before) {
    narrowSearch(view.query, only);
    return;
  }
  const next = before === only ? view : { ...(view.kind === "triage" ? SECTIONS_VIEW : view), only };
  for (const list of listsOf(next, currentAccountId())) void list.refetch();
  navigate(mailPath(currentAccountId(), listShown() ? openId() : null, next), { replace: true });
}

/** What is searched for is narrowed by a word of the query, or opened again. @param {string} query
 * @param {import("./address.js").Filter} only */
function narrowSearch(query, only) {
  const words = narrowed(query, only).length ? [] : [FILTER_WORD[only]];
  const next = withWords(query, only, ...words);
  navigate(mailPath(currentAccountId(), listShown() ? openId() : null, { kind: "search", query: next }),
    { replace: true });
}

/** Escape takes one thing away at a time. */
export function escape() {
  if (openId() === null && picked.value.size) clearPicks();
  else back();
}

/** Whether there is anything to go back from. */
export function canGoBack() {
  return openId() !== null || currentView().kind !== "sections" || currentView().only !== undefined;
}

/** @param {1 | -1} step */
export function move(step) {
  const next = neighbour(openId() ?? selectedId.value, step);
  if (!next) return;
  if (openId() === null) select(next.id, { focus: true });
  else openRow(next);
}

/** To the first row, or the last that is here. @param {1 | -1} end */
export function moveToEnd(end) {
  const row = outermost(end);
  if (row) select(row.id, { focus: true });
}

/** Move, and pick what is passed. @param {1 | -1} step */
export function pickOn(step) {
  const from = selectedThread();
  const next = neighbour(selectedId.value, step);
  if (from && !picked.value.has(from.id)) togglePick(from.id);
  if (!next) return;
  if (!picked.value.has(next.id)) togglePick(next.id);
  select(next.id, { focus: true });
}

/**
 * Do something that may make threads leave what is listed, and go on with what comes next.
 * @param {Thread[]} threads
 * @param {() => unknown} step shows its effect before it returns
 */
export function goOn(threads, step) {
  const ids = threads.map((one) => one.id);
  const open = openId();
  const first = ids.includes(open ?? "") ? /** @type {string} */ (open) : ids.includes(selectedId.value ?? "")
    ? /** @type {string} */ (selectedId.value) : ids[0];
  if (first === undefined) return;
  const order = [first, ...ids.filter((id) => id !== first)];
  const heir = heirOf(order);
  const homes = openLists().filter((list) => list.get(first));
  step();
  clearPicks();
  const stays = homes.some((list) => list.get(first));
  if (open === null) {
    const wasSelected = ids.includes(selectedId.value ?? "");
    if (!stays && (wasSelected || selectedId.value === null)) select(heir?.id ?? null, { focus: heir !== null });
    else select(selectedId.value, { focus: true });
  } else if (ids.includes(open)) {
    if (heir && goesToNext()) openRow(heir);
    else {
      back();
      select(heir?.id ?? null, { focus: heir !== null });
    }
  }
}

/** Whether the next thread opens when the open one has left; else the list does. Kept in this browser. */
export function goesToNext() {
  try {
    return localStorage.getItem(AFTER_KEY) !== "list";
  } catch {
    return true;
  }
}

export function toggleAfter() {
  const list = goesToNext();
  try {
    localStorage.setItem(AFTER_KEY, list ? "list" : "next");
  } catch {
    // A browser that keeps nothing for us keeps the default.
  }
  return !list;
}
