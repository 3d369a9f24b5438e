// @ts-check
/**
 * The buttons of the row under the mouse. For the mouse alone: a row is one thing to those who listen and to the
 * keyboard, which has a key and a menu for each of them.
 */
import { signal } from "@preact/signals";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { withKeys } from "../ui/key_words.js";
import { toolsFor } from "./tools.js";

/** The thread whose row the mouse is over. */
export const hovered = signal(/** @type {string | null} */ (null));

/** @param {PointerEvent} event */
export function onPointerOver(event) {
  if (event.pointerType !== "mouse" || !(event.target instanceof Element)) return;
  hovered.value = event.target.closest("[data-thread]")?.getAttribute("data-thread") ?? null;
}

export function onPointerLeave() {
  hovered.value = null;
}

/** @param {{ thread: Thread }} props */
export function RowActs({ thread }) {
  const tools = toolsFor([thread]).filter((one) => one.atRow);
  return html`<span class="row-acts" aria-hidden="true">${tools.map(
    ({ icon, label, keys }) => html`<span key=${label} data-act=${icon} title=${withKeys(label, keys)}>
      <${Icon} name=${icon} size=${18} /></span>`,
  )}</span>`;
}
