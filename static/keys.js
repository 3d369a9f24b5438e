// @ts-check
/**
 * Keyboard shortcuts: a registry, scoped by page, which the `?` overlay and the palette list.
 *
 * A key is written as in KeyboardEvent.key; "g i" is one key after the other, "Mod+k" is Ctrl or Cmd with k,
 * "Mod+Shift+p" is the same with Shift. A shortcut is off while an input has the focus, while compose or a dialog is
 * open, and with Ctrl, Meta or Alt; one with "Mod+" also works in a plain field, unless it edits the field's text. The
 * registry holds only the shortcuts that work now. Owns the one keydown listener, and the first key of two.
 */
import { computed, signal } from "@preact/signals";

/**
 * @typedef {object} Shortcut
 * @property {string[]} keys
 * @property {string} label what it does, for the overlay; shortcuts that do the same share a line there
 * @property {string} [part] its heading there, within its place
 * @property {() => void} run
 * @property {() => boolean} [when] whether it does anything now
 * @property {string[]} [also] other words that people have for it
 * @property {boolean} [acts] whether it acts on the selected or open item
 * @property {boolean} [repeats] whether holding the key down repeats it
 * @property {boolean} [fixed] its keys can't be changed: another component handles them, too
 */

/** Set by the compose window, and by others that take the whole keyboard. */
export const keyboardTaken = signal(false);
/** @typedef {Shortcut & { name: string }} Named */
/** @typedef {{ title: string, shortcuts: readonly Pick<Shortcut, "keys" | "label" | "fixed">[] }} KeyPlace */

/** @type {import("@preact/signals").Signal<{ title: string, shortcuts: Shortcut[] }[]>} */
const registered = signal([]);
/**
 * The shortcuts that work now, each with this person's keys, innermost last.
 * @type {import("@preact/signals").ReadonlySignal<{ title: string, shortcuts: Named[] }[]>}
 */
export const scopes = computed(() => registered.value.map(({ title, shortcuts }) => ({ title,
  shortcuts: shortcuts.map((one) => ({ ...one, name: nameOf(title, one), keys: keysOf(title, one) })) })));
/**
 * The person's own keys by the name of a command; they replace its default keys.
 * @type {import("@preact/signals").Signal<Record<string, readonly string[]>>}
 */
export const keyChanges = signal({});

const EDITABLE = "input, textarea, select, [contenteditable]:not([contenteditable=false])";
const RICH = "textarea, [contenteditable]:not([contenteditable=false])";
/** Keys that a plain field handles itself. */
const EDITING = new Set(["Mod+a", "Mod+c", "Mod+v", "Mod+x", "Mod+y", "Mod+z"]);
const STAYS = new Set(["Enter", "Escape", "ArrowUp", "ArrowDown", "Home", "End"]);
const PRESSABLE = "button, a[href], summary, [role=tab]";
/** How long the first key of two waits for the second. */
const SECOND_KEY_MS = 1_500;

let prefix = "";
let prefixAt = 0;

/**
 * Adds a page's shortcuts; the innermost scope is asked first. Returns a function that removes them.
 * @param {string} title
 * @param {Shortcut[]} shortcuts
 */
export function registerKeys(title, shortcuts) {
  const scope = { title, shortcuts };
  registered.value = [...registered.value, scope];
  return () => {
    registered.value = registered.value.filter((one) => one !== scope);
  };
}

/**
 * A command's name: its place and its first default key; the label may change later.
 * @param {string}
 * title @param {Pick<Shortcut, "keys">} shortcut
 */
export function nameOf(title, { keys }) {
  return `${title} ${keys[0]}`;
}

/** The keys that a command has for this person. @param {string} title @param {Pick<Shortcut, "keys" | "fixed">} one */
export function keysOf(title, one) {
  const changed = one.fixed ? undefined : keyChanges.value[nameOf(title, one)];
  return changed ? [...changed, ...one.keys.filter(staysPut)] : one.keys;
}

/** Keys whose meaning can't be changed: Escape, and those that move. @param {string} key */
export function staysPut(key) {
  return STAYS.has(key);
}

/** @type {() => Promise<readonly KeyPlace[]>} */
let places = async () => [];

/** Called once. @param {() => Promise<readonly KeyPlace[]>} find called when all of them are needed */
export function knowPlaces(find) {
  places = find;
}

/** Every place that has keys, also those that are not shown; it loads their pages. */
export function keyPlaces() {
  return places();
}

/** Starts to listen. Called once. */
export function startKeys() {
  addEventListener("keydown", onKeyDown);
}

/** @param {KeyboardEvent} event */
function onKeyDown(event) {
  if (event.defaultPrevented || event.isComposing || event.altKey || keyboardTaken.value) return;
  if (event.key === "Shift" || event.key === "Control" || event.key === "Meta") return;
  const mod = event.ctrlKey || event.metaKey;
  const key = mod ? `Mod+${event.shiftKey ? "Shift+" : ""}${event.key.toLowerCase()}` : event.key;
  if (isBusy(event.target, mod && !EDITING.has(key) ? RICH : EDITABLE)) return;
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

/** Whether the person writes now: then nothing that arrives takes the focus. */
export function isTyping() {
  return keyboardTaken.value || isWithin(document.activeElement, EDITABLE);
}

/** @param {EventTarget | null} target @param {string} typing the fields that use the key themselves */
function isBusy(target, typing) {
  if (isWithin(target, typing)) return true;
  return document.querySelector("dialog[open], :popover-open") !== null;
}

/**
 * Whether it is within a field that is shown. A field of a dialog that was just closed keeps the focus until the
 * browser draws the page: the keys pressed until then are not for it.
 * @param {EventTarget | null} target
 * @param {string} fields
 */
function isWithin(target, fields) {
  const field = target instanceof Element ? target.closest(fields) : null;
  return field !== null && field.getClientRects().length > 0;
}

/** @param {string} key */
function find(key) {
  for (const scope of scopes.value.toReversed()) {
    const found = scope.shortcuts.find((one) => one.keys.includes(key) && (one.when?.() ?? true));
    if (found) return found;
  }
  return undefined;
}

/** Whether a shortcut of two keys begins with it. @param {string} key */
function begins(key) {
  return scopes.value.some((scope) =>
    scope.shortcuts.some((one) => one.keys.some((keys) => keys.startsWith(`${key} `))));
}
