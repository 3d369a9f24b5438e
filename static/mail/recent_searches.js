// @ts-check
/**
 * What was searched for lately. Only what one searched on purpose counts, by Enter or by going to what was found; not
 * each word on the way there.
 */
import { signal } from "@preact/signals";
import { keepLately, lately } from "../lately.js";

const NAME = "searches";
const MAX_KEPT = 20;

/** Moves whenever the list did. */
const version = signal(0);

/** The newest first. @returns {string[]} */
export function recentSearches() {
  void version.value;
  return lately(NAME).filter((one) => typeof one === "string");
}

/** @param {string} text */
export function rememberSearch(text) {
  const query = text.trim();
  if (query) keep([query, ...recentSearches().filter((one) => one !== query)].slice(0, MAX_KEPT));
}

/** @param {string} text */
export function forgetSearch(text) {
  keep(recentSearches().filter((one) => one !== text));
}

/** @param {string[]} searches */
function keep(searches) {
  keepLately(NAME, searches);
  version.value += 1;
}
