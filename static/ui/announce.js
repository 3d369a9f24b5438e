// @ts-check
/**
 * Tells screen readers about an action whose effect can only be seen and for which no notice is shown. Owns the last
 * such text.
 */
import { signal } from "@preact/signals";
import { html } from "./html.js";

const said = signal({ number: 0, words: "" });

/** @param {string} words */
export function announce(words) {
  said.value = { number: said.value.number + 1, words };
}

/** The number makes an equal text a new one, so that it is read again. */
export function Announcements() {
  const { number, words } = said.value;
  return html`<div class="sr-only" role="status">${words && html`<span key=${number}>${words}</span>`}</div>`;
}
