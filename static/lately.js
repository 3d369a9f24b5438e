// @ts-check
/**
 * What somebody used lately: short lists that this browser keeps, apart for each person. At sign-out all of them go,
 * whosever they are: they tell of mail.
 */
import { me } from "./session.js";

const KEY = "svc.lately";

/** @param {string} name @returns {unknown[]} */
export function lately(name) {
  try {
    const found = JSON.parse(localStorage.getItem(keyOf(name)) ?? "[]");
    return Array.isArray(found) ? found : [];
  } catch {
    return [];
  }
}

/** @param {string} name @param {unknown[]} list */
export function keepLately(name, list) {
  try {
    localStorage.setItem(keyOf(name), JSON.stringify(list));
  } catch {
    // A browser that keeps nothing for us offers nothing of it.
  }
}

/** Somebody signed out. */
export function forgetLately() {
  try {
    for (const one of Object.keys(localStorage)) if (one.startsWith(KEY)) localStorage.removeItem(one);
  } catch {
    // It keeps nothing for us.
  }
}

/** @param {string} name */
function keyOf(name) {
  return `${KEY}.${me.value?.user?.id ?? ""}.${name}`;
}
