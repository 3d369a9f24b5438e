// @ts-check
/** The names of keys for buttons, menus and hints, with this person's own shortcuts. */
import { keyChanges } from "../keys.js";

const IS_MAC = /mac|iphone|ipad/iu.test(navigator.platform);
/** @type {Record<string, string>} */
const NAMES = { Escape: "Esc", ArrowDown: "↓", ArrowUp: "↑", Enter: "Enter", enter: "Enter",
  Mod: IS_MAC ? "⌘" : "Ctrl" };

/** The labels of the keys in a shortcut: "Mod+k" is Ctrl, k; "J" is Shift, j. @param {string} keys */
export function keyNames(keys) {
  return keys.split(/[ ]|(?<=Mod|Mod\+Shift)\+/u).flatMap((key) => (/^[A-Z]$/u.test(key) ? ["Shift", key.toLowerCase()]
    : [NAMES[key] ?? key]));
}

/** "e", "g i", "Shift+u". @param {string} keys */
export function keyWords(keys) {
  return keys.split(" ").map((one) => keyNames(one).join("+")).join(" ");
}

/** The first shortcut that a command has now; empty if the person removed it. @param {string} name as in keys.js */
export function firstKeys(name) {
  const changed = keyChanges.value[name];
  return changed ? changed[0] ?? "" : name.slice(name.indexOf(" ") + 1);
}

/** The first shortcut of a command in words. @param {string} name */
export function keysFor(name) {
  return keyWords(firstKeys(name));
}

/** "Archive (e)": the label of a button and the shortcut for the same. @param {string} label @param {string} name */
export function withKeys(label, name) {
  const keys = keysFor(name);
  return keys ? `${label} (${keys})` : label;
}
