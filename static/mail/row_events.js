// @ts-check
/** What the mouse, a finger and the keys mean on a row of the list. */
import { navigate } from "../router.js";
import { mailPath } from "./address.js";
import { openRowMenu } from "./row_menu.js";
import { neighbour, outermost, pickTo, picked, pickedThreads, select, togglePick } from "./selection.js";
import { takeHold } from "./swipe.js";
import { useTool } from "./tools.js";

/** @typedef {import("./lists.js").ThreadList} ThreadList */

/**
 * The row that it is on, and its thread.
 * @param {Event} event
 * @param {ThreadList[]} lists
 */
function rowAt({ target }, lists) {
  /** @type {HTMLAnchorElement | null} */
  const row = target instanceof Element ? target.closest("a[data-thread]") : null;
  const id = row?.dataset.thread;
  return { row, thread: id ? lists.map((list) => list.get(id)).find(Boolean) ?? null : null };
}

/**
 * A row is a link: with Ctrl or Cmd, and by the middle button, the browser opens it beside.
 * @param {MouseEvent} event
 * @param {ThreadList[]} lists
 * @param {string | null} accountId
 * @param {(thread: Thread) => void} open
 */
export function onClick(event, lists, accountId, open) {
  const { row, thread } = rowAt(event, lists);
  if (!row || !thread || !(event.target instanceof Element)) return;
  const act = event.target.closest("[data-act]")?.getAttribute("data-act");
  const label = event.target.closest("[data-label]")?.getAttribute("data-label");
  if (act) useTool(act, thread);
  else if (event.shiftKey) pickTo(thread.id);
  else if (event.target.closest(".row-pick")) togglePick(thread.id);
  else if (event.ctrlKey || event.metaKey) return;
  else if (label) navigate(mailPath(accountId, null, { kind: "label", name: label }));
  else open(thread);
  event.preventDefault();
  if (event.shiftKey) getSelection()?.removeAllRanges();
}

/** @param {PointerEvent} event @param {ThreadList[]} lists */
export function onPointerDown(event, lists) {
  const { row, thread } = rowAt(event, lists);
  if (row && thread) takeHold(event, row, thread);
}

/**
 * The menu of a row, for the picked threads where it is one of them. A finger that rests on a row picks it instead.
 * @param {MouseEvent} event
 * @param {ThreadList[]} lists
 */
export function onContextMenu(event, lists) {
  const { row, thread } = rowAt(event, lists);
  if (!row || !thread) return;
  event.preventDefault();
  if (event instanceof PointerEvent && event.pointerType === "touch") togglePick(thread.id);
  else openRowMenu(event, row, picked.value.has(thread.id) ? pickedThreads() : [thread]);
}

/** Arrow keys, Home and End, as in any list; j and k stand in the registry. @param {KeyboardEvent} event */
export function onKeyDown(event) {
  if (!(event.target instanceof Element) || !event.target.closest("[role=option]")) return;
  const id = event.target.getAttribute("data-thread");
  /** @type {Record<string, () => Thread | null>} */
  const ways = { ArrowDown: () => neighbour(id, 1), ArrowUp: () => neighbour(id, -1), Home: () => outermost(1),
    End: () => outermost(-1) };
  const way = ways[event.key];
  if (!way) return;
  event.preventDefault();
  const next = way();
  if (next) select(next.id, { focus: true });
}
