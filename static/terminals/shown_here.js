// @ts-check
/**
 * Which terminals this window shows, kept over a reload: then the server may still hold its old socket for another
 * window's, which would not be taken from it unasked.
 */
const KEY = "svc.terminals";

/** @returns {Set<string>} their sessions */
export function shownHere() {
  try {
    const found = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return new Set(Array.isArray(found) ? found : []);
  } catch {
    return new Set();
  }
}

/** @param {string} session @param {boolean} isShown */
export function noteShown(session, isShown) {
  const found = shownHere();
  if (isShown) found.add(session);
  else found.delete(session);
  try {
    sessionStorage.setItem(KEY, JSON.stringify([...found]));
  } catch {
    // A browser that keeps nothing for us asks once more.
  }
}
