// @ts-check
/**
 * Keyboard shortcuts: a registry, scoped by page, that the `?` overlay lists.
 *
 * A shortcut is inert while an input has the focus, while compose or a dialog is open, and with Ctrl, Meta or Alt. The
 * registry holds what works now and nothing else. Owns the one keydown listener.
 */
import { signal } from "@preact/signals";

/**
 * @typedef {object} Shortcut
 * @property {string[]} keys as in KeyboardEvent.key
 * @property {string} label what it does, for the overlay
 * @property {() => void} run
 * @property {() => boolean} [when] whether it does anything now
 * @property {boolean} [repeats] whether holding the key down repeats it
 */

/** Set by the compose window (and whoever else takes the whole keyboard). */
export const keyboardTaken = signal(false);
/** @type {import("@preact/signals").Signal<{ title: string, shortcuts: Shortcut[] }[]>} */
export const scopes = signal([]);

const EDITABLE = "input, textarea, select, [contenteditable]:not([contenteditable=false])";
const PRESSABLE = "button, a[href], summary, [role=tab]";

/**
 * Add a page's shortcuts; the innermost scope is asked first. Returns what takes them away.
 * @param {string} title
 * @param {Shortcut[]} shortcuts
 */
export function registerKeys(title, shortcuts) {
  const scope = { title, shortcuts };
  scopes.value = [...scopes.value, scope];
  return () => {
    scopes.value = scopes.value.filter((one) => one !== scope);
  };
}

/** Begin to listen. Called once. */
export function startKeys() {
  addEventListener("keydown", onKeyDown);
}

/** @param {KeyboardEvent} event */
function onKeyDown(event) {
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (keyboardTaken.value || isBusy(event.target)) return;
  const presses = event.key === "Enter" || event.key === " ";
  if (presses && event.target instanceof Element && event.target.closest(PRESSABLE)) return;
  const found = find(event.key);
  if (!found || (event.repeat && !found.repeats)) return;
  event.preventDefault();
  found.run();
}

/** @param {EventTarget | null} target */
function isBusy(target) {
  if (target instanceof Element && target.closest(EDITABLE)) return true;
  return document.querySelector("dialog[open], :popover-open") !== null;
}

/** @param {string} key */
function find(key) {
  for (const scope of scopes.value.toReversed()) {
    const found = scope.shortcuts.find((one) => one.keys.includes(key) && (one.when?.() ?? true));
    if (found) return found;
  }
  return undefined;
}
