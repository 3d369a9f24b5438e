// @ts-check
/**
 * The current place on the mail page, and the navigation: open, back, up and down, and the next thread after an action.
 */
import { navigate } from "../router.js";
import { SECTIONS_VIEW, mailPath, mailPlace } from "./address.js";
import { split } from "../ui/media.js";
import { opened } from "./details.js";
import { knownThread, listsOf } from "./lists.js";
import { narrowed, withWords, wordsOf } from "./query_words.js";
import { clearPicks, heirOf, neighbour, openLists, outermost, picked, pickedThreads, select, selectedId, selectedThread,
  togglePick } from "./selection.js";

/** The search word for each filter. @type {Record<import("./address.js").Filter, string>} */
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

/** Whether a filter or the search asks for files, so that a thread is opened to look at them. */
export function seeksFiles() {
  const view = currentView();
  if (view.only === "attachment") return true;
  return view.kind === "search" && (narrowed(view.query, "attachment").length > 0
    || wordsOf(view.query).some((word) => word.name === "filename" && !word.negated));
}

/** Whether the list is visible, so that rows can be picked. */
export function listShown() {
  return openId() === null || split.value;
}

/**
 * The threads that an action applies to: the picked ones, else the open one, else the selected one.
 * @returns {Thread[]}
 */
export function targets() {
  const many = listShown() ? pickedThreads() : [];
  if (many.length) return many;
  const one = current();
  return one ? [one] : [];
}

/** The open or selected thread; an open one may be further down than the loaded rows. @returns {Thread | null} */
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

/** Leaves the thread, else the filter, else the search, and goes to the inbox. */
export function back() {
  const from = openId();
  // The row will get the focus. If the focus were lost only when the element is removed, the browser would do an extra
  // layout.
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  const { only, ...whole } = currentView();
  const next = from !== null ? currentView() : only ? whole : SECTIONS_VIEW;
  navigate(mailPath(currentAccountId(), null, next));
  select(from ?? selectedId.value, { focus: true });
}

/** Turns a filter on; if it is on, turns it off. @param {import("./address.js").Filter} only */
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

/**
 * Adds the filter's word to the query, or removes it.
 * @param {string} query
 * @param {import("./address.js").Filter} only
 */
function narrowSearch(query, only) {
  const words = narrowed(query, only).length ? [] : [FILTER_WORD[only]];
  const next = withWords(query, only, ...words);
  navigate(mailPath(currentAccountId(), listShown() ? openId() : null, { kind: "search", query: next }),
    { replace: true });
}

/** Escape: closes or clears one thing per press. */
export function escape() {
  if (openId() === null && picked.value.size) clearPicks();
  else back();
}

/** Whether there is a place to go back from. */
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

/** Moves to the first row, or to the last loaded one. @param {1 | -1} end */
export function moveToEnd(end) {
  const row = outermost(end);
  if (row) select(row.id, { focus: true });
}

/** Moves, and picks the rows on the way. @param {1 | -1} step */
export function pickOn(step) {
  const from = selectedThread();
  const next = neighbour(selectedId.value, step);
  if (from && !picked.value.has(from.id)) togglePick(from.id);
  if (!next) return;
  if (!picked.value.has(next.id)) togglePick(next.id);
  select(next.id, { focus: true });
}

/**
 * Runs an action that may remove threads from the list, and moves on to the next thread.
 * @param {Thread[]} threads
 * @param {() => unknown} step must show its effect before it returns
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

/** Whether the next thread opens when the open one leaves the list; else the list opens. Stored in this browser. */
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
    // If the browser stores nothing for us, the default stays.
  }
  return !list;
}
