// @ts-check
/** Half-written texts of the settings: neither a reload nor the end of the session loses them (unsaved.js). */
import { useEffect, useState } from "preact/hooks";
import { html } from "../../ui/html.js";

/**
 * The unsaved text that a form begins with, of this tab or left in this browser. Undefined: not known yet; null: none.
 * @template {object} Draft
 * @param {import("../../unsaved.js").UnsavedTexts<Draft>} texts
 * @param {string} path
 */
export function useHalfWritten(texts, path) {
  const [begun, setBegun] = useState(() => /** @type {Draft | null | undefined} */ (texts.of(path) ?? undefined));
  useEffect(() => {
    if (begun === undefined) void texts.takeLeft(path).then(() => setBegun(texts.of(path)));
  }, []);
  return /** @type {const} */ ([begun, setBegun]);
}

export function WrittenBefore() {
  return html`<p class="fine" role="status">You wrote this before, and did not save it.</p>`;
}
