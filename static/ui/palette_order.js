// @ts-check
/** Chooses and orders the commands that the palette shows. Pure. */
import { matchScore } from "./fuzzy.js";

/** @typedef {import("./palette.js").Command} Command */

const MAX_SHOWN = 60;
/** A match that needs the group counts a little less than one with the label alone: “Settings” is a place. */
const BY_GROUP = 0.95;
/** So does a match with another word for a command. */
const BY_OTHER_WORD = 0.9;
/** A looked-up result always matches, whatever its label: the words may be in its text. */
const LOOKED_UP = 1;
const LATELY = 2;
const ACTS = 1;
/** With typed words, the match counts more than what the person used last. */
const WITH_WORDS = 0.5;

/**
 * The best match first. Without words: the last used, then commands for the selection, then the rest.
 * @param {Command[]} all
 * @param {Set<string>} lookedUp ids
 * @param {string} text
 * @param {string[]} used ids, the last used first
 */
export function ranked(all, lookedUp, text, used) {
  const weight = text ? WITH_WORDS : 1;
  const byId = new Map(all.map((one) => [one.id, one]));
  return [...byId.values()]
    .map((one, index) => ({ one, index, fit: fitOf(one, text, lookedUp.has(one.id)),
      liking: weight * likingOf(one, used) }))
    .filter(({ fit }) => fit > 0)
    .sort((a, b) => b.fit + b.liking - (a.fit + a.liking) || a.index - b.index)
    .slice(0, MAX_SHOWN)
    .map(({ one }) => one);
}

/** @param {Command} one @param {string} text @param {boolean} lookedUp */
function fitOf({ label, group = "", also = [] }, text, lookedUp) {
  const byName = Math.max(matchScore(text, label), matchScore(text, `${label} ${group}`) * BY_GROUP);
  const byOther = Math.max(0, ...also.map((word) => matchScore(text, word) * BY_OTHER_WORD));
  return Math.max(byName, byOther, lookedUp ? LOOKED_UP : 0);
}

/** @param {Command} one @param {string[]} used */
function likingOf({ id, acts }, used) {
  const at = used.indexOf(id);
  return at >= 0 ? LATELY - at / used.length : acts ? ACTS / 2 : 0;
}
