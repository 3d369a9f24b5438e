// @ts-check
/** Shows JSON as text: the input and output of a step. Never as markup. */
import { useState } from "preact/hooks";
import { reasonOf } from "../settings/fetched.js";
import { number } from "../ui/format.js";
import { html } from "../ui/html.js";

const SHOWN_CHARS = 2_000;
/** Invisible and control characters, and those that change the direction of text. They could make one text look like
 *  another, or hide a second text. */
const UNSEEN = new RegExp("[\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f"
  + "\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164"
  + "\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\u{13430}-\\u{1343f}\\u{1bca0}-\\u{1bca3}\\u{1d159}"
  + "\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]", "gu");

/** Indented JSON in which every character is visible; its meaning is the same. @param {unknown} value */
export function jsonText(value) {
  return seen(JSON.stringify(value, null, 2));
}

/** Replaces each invisible character by its escape. @param {string} text */
export function seen(text) {
  return text.replace(UNSEEN, (one) => Array.from({ length: one.length },
    (_, at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""));
}

/**
 * `whole`: show all, even if it is long. With `bytes`, `value` is only the beginning of JSON of that size; `fetchAll`
 * gets all of it.
 * @param {{ label: string, value: unknown, whole?: boolean, bytes?: number | null,
 *   fetchAll?: () => Promise<unknown> }} props
 */
export function Value({ label, value, whole = false, bytes = null, fetchAll }) {
  const [all, setAll] = useState(whole);
  const [fetched, setFetched] = useState(/** @type {{ value: unknown } | null} */ (null));
  const [problem, setProblem] = useState("");
  const isBeginning = bytes !== null && !fetched;
  const text = isBeginning ? seen(String(value)) : jsonText(fetched ? fetched.value : value);
  const isCut = isBeginning || (!all && text.length > SHOWN_CHARS);
  const showAll = async () => {
    try {
      if (isBeginning && fetchAll) setFetched({ value: await fetchAll() });
      setAll(true);
      setProblem("");
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  return html`<div class="run-value">
    <p class="run-value-label" aria-hidden="true">${label}</p>
    <pre tabindex="0" role="region" aria-label=${label}>${isCut ? `${text.slice(0, SHOWN_CHARS)}…` : text}</pre>
    ${isCut && html`<button class="button small" aria-label=${`Show all of ${label}`} onClick=${showAll}>
      Show all ${isBeginning ? `${number(bytes)} bytes` : `${number(text.length)} characters`}</button>`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </div>`;
}
