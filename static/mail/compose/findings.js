// @ts-check
/** The messages before sending: errors that prevent it, and warnings. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { isAtNothing } from "../../ui/focus.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";

/** @param {{ sending: import("./sending.js").Sending }} props */
export function Findings({ sending }) {
  const { found, problem } = sending;
  const back = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const before = useRef(/** @type {Element | null} */ (null));
  const stops = found.some((one) => one.stops);
  useLayoutEffect(() => {
    if (found.length) {
      before.current ??= document.activeElement;
      back.current?.focus();
      return;
    }
    if (isAtNothing() && before.current instanceof HTMLElement) before.current.focus();
    before.current = null;
  }, [found]);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    sending.dismiss();
  };
  if (problem) return html`<p class="form-problem compose-problem" role="alert">Not sent: ${problem}</p>`;
  if (!found.length) return null;
  return html`<div class="notice bad compose-findings" role="alertdialog" aria-label="Before it is sent"
    aria-describedby="compose-found" onKeyDown=${onKeyDown}>
    <${Icon} name="warning" />
    <div>
      <ul id="compose-found">${found.map(({ text }) => html`<li key=${text}>${text}</li>`)}</ul>
      <p class="page-actions">
        <button type="button" class="button small" ref=${back} onClick=${sending.dismiss}>
          ${stops ? "OK" : "Don’t send yet"}</button>
        ${!stops && html`<button type="button" class="button small" onClick=${() => void sending.sendAnyway()}>
          Send anyway</button>`}
      </p>
    </div>
  </div>`;
}
