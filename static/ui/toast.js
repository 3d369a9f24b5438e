// @ts-check
/**
 * Short notices at the bottom of the page, each with at most one action; screen readers announce them politely. Owns
 * its queue.
 *
 * No notice disappears while the pointer or the focus is in the notices. When a notice with the focus disappears, the
 * focus returns to the element that had it before.
 */
import { signal } from "@preact/signals";
import { html } from "./html.js";
import { Icon } from "./icons.js";

const SHOWN_MS = 6_000;
/** How soon it is checked again whether a held notice can disappear. */
const LINGER_MS = 1_500;
const MAX_SHOWN = 3;

/**
 * @typedef {{ id: number, text: string, tone: "plain" | "error", action?: { label: string, run: () => void } }} Toast
 */

const toasts = signal(/** @type {Toast[]} */ ([]));
let lastId = 0;
/** @type {HTMLElement | null} */
let region = null;
/** The element that had the focus before the notices. @type {HTMLElement | null} */
let before = null;

/**
 * Shows a notice. Returns a function that removes it early.
 * @param {string} text
 * @param {{ tone?: "plain" | "error", action?: Toast["action"], stays?: boolean }} [options]
 *   `stays`: it stays until the person dismisses it
 */
export function toast(text, { tone = "plain", action, stays = false } = {}) {
  const id = ++lastId;
  toasts.value = [...toasts.value, { id, text, tone, action }].slice(-MAX_SHOWN);
  if (!stays) setTimeout(() => leaveWhenFree(id), SHOWN_MS);
  return () => dismiss(id);
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite" ref=${setRegion} onFocusIn=${remember}>
    ${toasts.value.map(
      (one) => html`<div key=${one.id} id=${`toast-${one.id}`} class=${`toast ${one.tone}`}>
        <span>${one.text}</span>
        ${one.action && html`<button class="toast-action" onClick=${() => act(one)}>${one.action.label}</button>`}
        <button class="toast-close" aria-label="Dismiss" onClick=${() => dismiss(one.id)}>
          <${Icon} name="close" size=${16} /></button>
      </div>`,
    )}
  </div>`;
}

/** @param {HTMLElement | null} element */
function setRegion(element) {
  region = element;
}

/** @param {FocusEvent} event */
function remember({ relatedTarget }) {
  if (relatedTarget instanceof Node && region?.contains(relatedTarget)) return;
  before = relatedTarget instanceof HTMLElement ? relatedTarget : null;
}

/** @param {Toast} one */
function act(one) {
  dismiss(one.id);
  one.action?.run();
}

/** @param {number} id */
function leaveWhenFree(id) {
  const isHeld = region?.matches(":hover") || region?.contains(document.activeElement);
  if (isHeld) setTimeout(() => leaveWhenFree(id), LINGER_MS);
  else dismiss(id);
}

/** @param {number} id */
function dismiss(id) {
  if (document.getElementById(`toast-${id}`)?.contains(document.activeElement)) before?.focus({ preventScroll: true });
  toasts.value = toasts.value.filter((one) => one.id !== id);
}
