// @ts-check
/** A text field of a form, and the reading of a comma-separated list from it. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";

/**
 * A field that keeps the text exactly as it is typed: a comma at the end is not a value yet.
 * @param {{ label: string, hint: string, value: string, set: (text: string) => void, first?: boolean }} props
 *   `first`: it gets the focus
 */
export function TextField({ label, hint, value, set, first = false }) {
  const [typed, setTyped] = useState(value);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => {
    if (first) field.current?.focus();
  }, []);
  return html`<label class="field"><span>${label}</span>
    <input ref=${field} type="text" autocomplete="off" placeholder=${hint} value=${typed} onInput=${(
      /** @type {Event} */ event) => {
      const { value: text } = /** @type {HTMLInputElement} */ (event.target);
      setTyped(text);
      set(text);
    }} /></label>`;
}

/** The values between commas. @param {string} text */
export function listOf(text) {
  return text.split(",").map((one) => one.trim()).filter(Boolean);
}
