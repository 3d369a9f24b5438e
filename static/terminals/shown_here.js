// @ts-check
/**
 * Which terminals this window shows, stored so that a reload does not lose it. After a reload the server may still hold
 * this window's old socket, and reports the terminal as shown. Without this note the page would take that for another
 * window, and not take the terminal back without asking.
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
    // In a browser that stores nothing, the person is asked once more.
  }
}
