// @ts-check
/**
 * Recently used things: short lists in this browser, separate for each person. Sign-out deletes the lists of all
 * people, since they reveal mail.
 */
import { me } from "./session.js";

/** Entries with this name are in browsers already. */
const KEY = "svc.lately";

/** @param {string} name @returns {unknown[]} */
export function recentlyUsed(name) {
  try {
    const found = JSON.parse(localStorage.getItem(keyOf(name)) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

/** @param {string} name @param {unknown[]} list */
export function keepRecentlyUsed(name, list) {
  try {
    localStorage.setItem(keyOf(name), JSON.stringify(list));
  } catch {
    // If the browser stores nothing for us, nothing is offered.
  }
}

/** Deletes all lists, at sign-out. */
export function forgetRecentlyUsed() {
  try {
    for (const one of Object.keys(localStorage)) if (one.startsWith(KEY)) localStorage.removeItem(one);
  } catch {
    // The browser stores nothing for us.
  }
}

/** @param {string} name */
function keyOf(name) {
  return `${KEY}.${me.value?.user?.id ?? ""}.${name}`;
}
