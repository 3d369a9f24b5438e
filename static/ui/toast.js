// @ts-check
/** Short notices at the foot of the page, with at most one action each; spoken politely. Owns its queue. */
import { signal } from "@preact/signals";
import { html } from "./html.js";
import { Icon } from "./icons.js";

const SHOWN_MS = 6_000;
const MAX_SHOWN = 3;

/** @typedef {{ id: number, text: string, tone: "plain" | "error", action?: { label: string, run: () => void } }} Toast */

const toasts = signal(/** @type {Toast[]} */ ([]));
let lastId = 0;

/**
 * Returns what takes the notice away early.
 * @param {string} text
 * @param {{ tone?: "plain" | "error", action?: Toast["action"], stays?: boolean }} [options]
 *   `stays`: until somebody dismisses it
 */
export function toast(text, { tone = "plain", action, stays = false } = {}) {
  const id = ++lastId;
  toasts.value = [...toasts.value, { id, text, tone, action }].slice(-MAX_SHOWN);
  const leave = () => dismiss(id);
  if (!stays) setTimeout(leave, SHOWN_MS);
  return leave;
}

export function Toasts() {
  return html`<div class="toasts" role="status" aria-live="polite">
    ${toasts.value.map(
      (one) => html`<div key=${one.id} class=${`toast ${one.tone}`}>
        <span>${one.text}</span>
        ${one.action && html`<button class="toast-action" onClick=${() => act(one)}>${one.action.label}</button>`}
        <button class="toast-close" aria-label="Dismiss" onClick=${() => dismiss(one.id)}><${Icon} name="close" size=${16} /></button>
      </div>`,
    )}
  </div>`;
}

/** @param {Toast} one */
function act(one) {
  dismiss(one.id);
  one.action?.run();
}

/** @param {number} id */
function dismiss(id) {
  toasts.value = toasts.value.filter((one) => one.id !== id);
}
