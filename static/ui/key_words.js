// @ts-check
/** Keys in words, as they are for this person: on buttons, in menus, in hints. */
import { keyChanges } from "../keys.js";

const IS_MAC = /mac|iphone|ipad/iu.test(navigator.platform);
/** @type {Record<string, string>} */
const NAMES = { Escape: "Esc", ArrowDown: "↓", ArrowUp: "↑", Enter: "Enter", enter: "Enter",
  Mod: IS_MAC ? "⌘" : "Ctrl" };

/** What is printed on the keys that a shortcut takes: "Mod+k" is Ctrl, k; "J" is Shift, j. @param {string} keys */
export function keyNames(keys) {
  return keys.split(/[ ]|(?<=Mod|Mod\+Shift)\+/u).flatMap((key) => (/^[A-Z]$/u.test(key) ? ["Shift", key.toLowerCase()]
    : [NAMES[key] ?? key]));
}

/** "e", "g i", "Shift+u". @param {string} keys */
export function keyWords(keys) {
  return keys.split(" ").map((one) => keyNames(one).join("+")).join(" ");
}

/** The first keys that a command has now; empty where it has lost them. @param {string} name as in keys.js */
export function firstKeys(name) {
  const changed = keyChanges.value[name];
  return changed ? changed[0] ?? "" : name.slice(name.indexOf(" ") + 1);
}

/** The same in words. @param {string} name */
export function keysFor(name) {
  return keyWords(firstKeys(name));
}

/** "Archive (e)": what a button does, and the keys that do the same. @param {string} label @param {string} name */
export function withKeys(label, name) {
  const keys = keysFor(name);
  return keys ? `${label} (${keys})` : label;
}
