// @ts-check
/** Finds commands that clash with a changed key, and has sets of keys that people know from other apps. Pure. */

/** @typedef {import("../keys.js").KeyPlace} KeyPlace */
/** @typedef {Record<string, string[]>} Changes by the name of a command */
/** @typedef {{ name: string, label: string, keys: readonly string[], fixed: boolean }} Command */

const EVERYWHERE = "Everywhere";

/** Gmail's keys, where they differ from ours. @type {Changes} */
export const GMAIL = { "Mail h": ["b"], "Mail g z": ["g b"], "Mail Enter": ["o"] };

/**
 * The other commands of the same place or of everywhere whose keys clash: they are the same, or one of the two begins
 * with the other.
 * @template {Command & { place: string }} One
 * @param {readonly One[]} all
 * @param {{ place: string, name: string }} of
 * @param {string} keys
 */
export function clashes(all, { place, name }, keys) {
  const near = all.filter((one) => one.name !== name
    && (one.place === place || one.place === EVERYWHERE || place === EVERYWHERE));
  return near.filter((one) => one.keys.some((other) => meet(other, keys)));
}

/** @param {string} one @param {string} other */
function meet(one, other) {
  return one === other || one.startsWith(`${other} `) || other.startsWith(`${one} `);
}

/**
 * A key press in the notation of keys.js; empty where it can't be part of a shortcut.
 * @param {{ key: string, ctrlKey: boolean, metaKey: boolean, shiftKey: boolean, altKey: boolean }} event
 */
export function pressed({ key, ctrlKey, metaKey, shiftKey, altKey }) {
  if (altKey || key === " " || ["Shift", "Control", "Meta", "Dead", "Unidentified", "Process"].includes(key)) return "";
  return ctrlKey || metaKey ? `Mod+${shiftKey ? "Shift+" : ""}${key.toLowerCase()}` : key;
}

/** @param {Changes} one @param {Changes} other */
export function same(one, other) {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => String(one[name] ?? "-") === String(other[name] ?? "-"));
}
