// @ts-check
/** Handles mouse, touch and keys on a row of the list. */
import { navigate } from "../router.js";
import { mailPath } from "./address.js";
import { beginDrag } from "./dragging.js";
import { actsAt, enter, entered, linkAt, threadAt } from "./row_acts.js";
import { openRowMenu } from "./row_menu.js";
import { neighbour, outermost, pickTo, picked, pickedThreads, select, togglePick } from "./selection.js";
import { endsLongPress, longPressed, pressBegins, pressEnds, pressMoves, wasLongPress } from "./long_press.js";
import { draw, letGo, takeHold } from "./swipe.js";
import { useTool } from "./tools.js";

/** @typedef {import("./lists.js").ThreadList} ThreadList */

/**
 * The row of an event, and its thread.
 * @param {Event} event
 * @param {ThreadList[]} lists
 */
function rowAt({ target }, lists) {
  const row = target instanceof Element ? linkAt(target) : null;
  const id = row?.dataset.thread;
  return { row, thread: id ? lists.map((list) => list.get(id)).find(Boolean) ?? null : null };
}

/**
 * A row is a link: with Ctrl or Cmd, and by the middle button, the browser opens it in a new tab.
 * @param {MouseEvent} event
 * @param {ThreadList[]} lists
 * @param {string | null} accountId
 * @param {(thread: Thread) => void} open
 */
export function onClick(event, lists, accountId, open) {
  const { row, thread } = rowAt(event, lists);
  if (!row || !thread || !(event.target instanceof Element)) return;
  if (endsLongPress(event)) {
    event.preventDefault();
    return;
  }
  const act = event.target.closest("[data-act]")?.getAttribute("data-act");
  const label = event.target.closest("[data-label]")?.getAttribute("data-label");
  if (act === "pick") togglePick(thread.id);
  else if (act) useTool(act, thread);
  else if (event.shiftKey) pickTo(thread.id);
  else if (picked.value.size && isTap(event)) togglePick(thread.id);
  else if (event.target.closest(".row-pick")) togglePick(thread.id);
  else if (event.ctrlKey || event.metaKey) return;
  else if (label) navigate(mailPath(accountId, null, { kind: "label", name: label }));
  else open(thread);
  event.preventDefault();
  if (event.shiftKey) getSelection()?.removeAllRanges();
}

/** Whether it is a touch: once a row is picked, a touch picks more rows. @param {MouseEvent} event */
function isTap(event) {
  return event instanceof PointerEvent && event.pointerType === "touch";
}

/** @param {PointerEvent} event @param {ThreadList[]} lists */
export function onPointerDown(event, lists) {
  const { row, thread } = rowAt(event, lists);
  if (!row || !thread) return;
  row.draggable = event.pointerType === "mouse"; // a finger that rests on it picks it
  takeHold(event, row, thread);
  pressBegins(event, () => {
    letGo(event);
    togglePick(thread.id);
  });
}

/** @param {DragEvent} event @param {ThreadList[]} lists */
export function onDragStart(event, lists) {
  const { thread } = rowAt(event, lists);
  if (thread) beginDrag(event, thread);
}

/** @param {PointerEvent} event */
export function onPointerMove(event) {
  pressMoves(event);
  draw(event);
}

/** @param {PointerEvent} event */
export function onPointerEnd(event) {
  pressEnds();
  letGo(event);
}

/**
 * Opens the menu of a row, for all picked threads if the row is one of them. A long press on a row picks it instead.
 * @param {MouseEvent} event
 * @param {ThreadList[]} lists
 */
export function onContextMenu(event, lists) {
  const { row, thread } = rowAt(event, lists);
  if (!row || !thread) return;
  event.preventDefault();
  if (isTap(event)) {
    if (!longPressed() && !wasLongPress()) togglePick(thread.id);
  } else openRowMenu(event, row, picked.value.has(thread.id) ? pickedThreads() : [thread]);
}

/**
 * Arrow keys, Home and End, as in any grid; j and k are in the key registry. The right arrow moves from a row to its
 * buttons; in them, up and down stay in the same column.
 * @param {KeyboardEvent} event
 */
export function onKeyDown(event) {
  if (!(event.target instanceof Element) || event.ctrlKey || event.metaKey || event.altKey) return;
  const id = threadAt(event.target);
  if (id === null) return;
  const acts = actsAt(event.target);
  const at = acts.findIndex((one) => one === event.target);
  const done = at < 0 ? moveInRows(event.key, id) : moveInActs(event.key, id, acts, at);
  if (done) event.preventDefault();
}

/** Forgets the entered row once the focus has left it. @param {FocusEvent} event */
export function onFocusOut({ relatedTarget }) {
  if (!(relatedTarget instanceof Element) || threadAt(relatedTarget) === entered.value) return;
  entered.value = null;
}

/** @param {string} key @param {string} id */
function moveInRows(key, id) {
  /** @type {Record<string, () => Thread | null>} */
  const ways = { ArrowDown: () => neighbour(id, 1), ArrowUp: () => neighbour(id, -1), Home: () => outermost(1),
    End: () => outermost(-1) };
  if (key === "ArrowRight") {
    select(id);
    enter(id, 0);
    return true;
  }
  const next = ways[key]?.();
  if (next) select(next.id, { focus: true });
  return key in ways;
}

/** @param {string} key @param {string} id @param {HTMLElement[]} acts @param {number} at the one with the focus */
function moveInActs(key, id, acts, at) {
  const step = { ArrowUp: /** @type {const} */ (-1), ArrowDown: /** @type {const} */ (1) }[key];
  if (step) {
    const next = neighbour(id, step);
    if (next) {
      select(next.id);
      enter(next.id, at);
    }
    return true;
  }
  const back = key === "Escape" || key === "Home" || (key === "ArrowLeft" && at === 0);
  const to = back ? linkAt(/** @type {HTMLElement} */ (acts[at]))
    : acts[{ ArrowLeft: at - 1, ArrowRight: Math.min(at + 1, acts.length - 1), End: acts.length - 1 }[key] ?? -1];
  if (back) entered.value = null;
  to?.focus({ preventScroll: true });
  return to !== undefined;
}
