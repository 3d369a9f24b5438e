// @ts-check
/**
 * Short notices at the bottom of the page, each with at most one action; screen readers announce them politely. Owns
 * its queue.
 *
 * No notice disappears while the pointer or the focus is in the notices, or while another tab is in front. When a
 * notice with the focus disappears, the focus returns to the element that had it before.
 */
import { signal } from "@preact/signals";
import { html } from "./html.js";
import { Icon } from "./icons.js";

const SHOWN_MS = 6_000;
/** What went wrong takes longer to read, and nobody waits for it. */
const ERROR_SHOWN_MS = 12_000;
/** How soon it is checked again whether a held notice can disappear. */
const LINGER_MS = 1_500;
const MAX_SHOWN = 3;

/**
 * @typedef {{ id: number, text: string, tone: "plain" | "error", stays: boolean,
 *   action?: { label: string, run: () => void } }} Toast
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
  toasts.value = newest([...toasts.value, { id, text, tone, stays, action }]);
  if (!stays) setTimeout(() => leaveWhenFree(id), tone === "error" ? ERROR_SHOWN_MS : SHOWN_MS);
  return () => dismiss(id);
}

/** Without the oldest of too many: those that stay give no place to those that leave. @param {Toast[]} all */
function newest(all) {
  const shown = new Set([...all.filter((one) => one.stays).slice(-MAX_SHOWN),
    ...all.filter((one) => !one.stays).slice(-MAX_SHOWN)]);
  return all.filter((one) => shown.has(one));
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
  if (document.hidden) { // its time begins again when the person comes back
    const again = () => setTimeout(() => leaveWhenFree(id), SHOWN_MS);
    document.addEventListener("visibilitychange", again, { once: true });
    return;
  }
  const isHeld = region?.matches(":hover") || region?.contains(document.activeElement);
  if (isHeld) setTimeout(() => leaveWhenFree(id), LINGER_MS);
  else dismiss(id);
}

/** @param {number} id */
function dismiss(id) {
  if (document.getElementById(`toast-${id}`)?.contains(document.activeElement)) before?.focus({ preventScroll: true });
  toasts.value = toasts.value.filter((one) => one.id !== id);
}
