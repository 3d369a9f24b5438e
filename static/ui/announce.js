// @ts-check
/** What a screen reader says of an action whose effect is only seen: no notice shows it. Owns the last such words. */
import { signal } from "@preact/signals";
import { html } from "./html.js";

const said = signal({ number: 0, words: "" });

/** @param {string} words */
export function announce(words) {
  said.value = { number: said.value.number + 1, words };
}

/** The same words said again are new ones. */
export function Announcements() {
  const { number, words } = said.value;
  return html`<div class="sr-only" role="status">${words && html`<span key=${number}>${words}</span>`}</div>`;
}
