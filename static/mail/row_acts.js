// @ts-check
/**
 * The buttons of a row, each in a cell of the grid. Only the row under the mouse has them, and the row that the person
 * entered with the right arrow, so that a list is drawn quickly. Owns which rows these are.
 */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { withKeys } from "../ui/key_words.js";
import { toolsFor } from "./tools.js";

/** The thread whose row the mouse is over. */
export const hovered = signal(/** @type {string | null} */ (null));
/** The thread whose row the person has entered by keyboard. */
export const entered = signal(/** @type {string | null} */ (null));
/** The column of the keyboard focus: it stays the same from one row to the next. */
let column = 0;

/** @param {PointerEvent} event */
export function onPointerOver(event) {
  if (event.pointerType !== "mouse" || !(event.target instanceof Element)) return;
  hovered.value = threadAt(event.target);
}

export function onPointerLeave() {
  hovered.value = null;
}

/** The thread of the row that an element is in. @param {Element} element */
export function threadAt(element) {
  return linkAt(element)?.dataset.thread ?? null;
}

/** The link of the row that an element is in. @param {Element} element @returns {HTMLAnchorElement | null} */
export function linkAt(element) {
  return element.closest(".row-line")?.querySelector("a[data-thread]") ?? null;
}

/** The buttons of the row that an element is in, from left to right. @param {Element} element */
export function actsAt(element) {
  return [...element.closest(".row-line")?.querySelectorAll(/** @type {"button"} */ ("button[data-act]")) ?? []];
}

/** Focuses a button of a row, once it is drawn. @param {string} thread @param {number} at */
export function enter(thread, at) {
  column = at;
  entered.value = thread;
}

/** @param {{ thread: Thread, top: number, picked: boolean, byKeys: boolean }} props */
export function RowActs({ thread, top, picked, byKeys }) {
  const cells = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => {
    const buttons = byKeys && cells.current ? actsAt(cells.current) : [];
    buttons[Math.min(column, buttons.length - 1)]?.focus({ preventScroll: true });
  }, [byKeys]);
  return html`<div class="row-acts" ref=${cells} style=${{ transform: `translateY(${top}px)` }}>
    ${byKeys && html`<div class="row-cell" role="gridcell"><button tabindex="-1" data-act="pick" role="checkbox"
      aria-checked=${picked ? "true" : "false"} aria-label="Pick" title=${withKeys("Pick", "Mail x")}>
      <${Icon} name="check" size=${18} /></button></div>`}
    ${toolsFor([thread]).filter((one) => one.atRow).map(({ icon, label, keys }) => html`<div key=${keys}
      class="row-cell" role="gridcell"><button tabindex="-1" data-act=${icon} aria-label=${label}
        title=${withKeys(label, keys)}><${Icon} name=${icon} size=${18} /></button></div>`)}
  </div>`;
}
