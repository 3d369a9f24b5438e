// @ts-check
/** JSON as text: what a step was given and what came of it. Never markup. */
import { useState } from "preact/hooks";
import { number } from "../ui/format.js";
import { html } from "../ui/html.js";

const SHOWN_CHARS = 2_000;
/** What turns the direction of text around or is not seen at all could make one text look like another. */
const UNSEEN = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;

/** Indented JSON in which every character is seen; it means the same. @param {unknown} value */
export function jsonText(value) {
  return JSON.stringify(value, null, 2)
    .replace(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** @param {{ label: string, value: unknown, whole?: boolean }} props `whole`: however long it is */
export function Value({ label, value, whole = false }) {
  const [all, setAll] = useState(whole);
  const text = jsonText(value);
  const isCut = !all && text.length > SHOWN_CHARS;
  return html`<div class="run-value">
    <p class="run-value-label" aria-hidden="true">${label}</p>
    <pre tabindex="0" role="region" aria-label=${label}>${isCut ? `${text.slice(0, SHOWN_CHARS)}…` : text}</pre>
    ${isCut && html`<button class="button small" aria-label=${`Show all of ${label}`} onClick=${() => setAll(true)}>
      Show all ${number(text.length)} characters</button>`}
  </div>`;
}
