// @ts-check
/**
 * Keyboard shortcuts: a registry, scoped by page, that the `?` overlay and the palette list.
 *
 * A key is written as in KeyboardEvent.key; "g i" is one key after the other, "Mod+k" is Ctrl or Cmd, "Mod+Shift+p"
 * that with Shift. A shortcut is inert while an input has the focus, while compose or a dialog is open, and with Ctrl,
 * Meta or Alt; one with "Mod+" also works in a plain field, where it can't be text. The registry holds what works now
 * and nothing else. Owns the one keydown listener, and the first key of two.
 */
import { signal } from "@preact/signals";

/**
 * @typedef {object} Shortcut
 * @property {string[]} keys
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
const RICH = "textarea, [contenteditable]:not([contenteditable=false])";
const PRESSABLE = "button, a[href], summary, [role=tab]";
/** How long the first key of two waits for the second. */
const SECOND_KEY_MS = 1_500;

let prefix = "";
let prefixAt = 0;

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
  if (event.defaultPrevented || event.isComposing || event.altKey || keyboardTaken.value) return;
  if (event.key === "Shift" || event.key === "Control" || event.key === "Meta") return;
  const mod = event.ctrlKey || event.metaKey;
  if (isBusy(event.target, mod ? RICH : EDITABLE)) return;
  const key = mod ? `Mod+${event.shiftKey ? "Shift+" : ""}${event.key.toLowerCase()}` : event.key;
  const presses = key === "Enter" || key === " ";
  if (presses && event.target instanceof Element && event.target.closest(PRESSABLE)) return;
  const before = event.timeStamp - prefixAt < SECOND_KEY_MS ? prefix : "";
  prefix = "";
  const found = (before && find(`${before} ${key}`)) || find(key);
  if (found) {
    if (event.repeat && !found.repeats) return;
    event.preventDefault();
    found.run();
  } else if (!mod && begins(key)) {
    prefix = key;
    prefixAt = event.timeStamp;
    event.preventDefault();
  }
}

/** @param {EventTarget | null} target @param {string} typing where the key is text, or the field's own */
function isBusy(target, typing) {
  if (target instanceof Element && target.closest(typing)) return true;
  return document.querySelector("dialog[open], :popover-open") !== null;
}

/** Whether these keys, one or two, do anything now. @param {string} keys */
export function worksNow(keys) {
  return find(keys) !== undefined;
}

/** @param {string} key */
function find(key) {
  for (const scope of scopes.value.toReversed()) {
    const found = scope.shortcuts.find((one) => one.keys.includes(key) && (one.when?.() ?? true));
    if (found) return found;
  }
  return undefined;
}

/** Whether some shortcut of two keys begins with it. @param {string} key */
function begins(key) {
  return scopes.value.some((scope) =>
    scope.shortcuts.some((one) => one.keys.some((keys) => keys.startsWith(`${key} `))));
}
