// @ts-check
/** Recent searches. Only deliberate searches count, by Enter or by opening a result; not each word while typing. */
import { signal } from "@preact/signals";
import { keepRecentlyUsed, recentlyUsed } from "../recently_used.js";

const NAME = "searches";
const MAX_KEPT = 20;

/** Changes whenever the list does. */
const version = signal(0);

/** The recent searches, the newest first. @returns {string[]} */
export function recentSearches() {
  void version.value;
  return recentlyUsed(NAME).filter((one) => typeof one === "string");
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
  keepRecentlyUsed(NAME, searches);
  version.value += 1;
}
