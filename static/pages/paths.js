// @ts-check
/** Paths of pages and their addresses: `clients/harbour bay` is shown at `/p/clients/harbour%20bay`. Pure. */

/** @param {string} path "" for the list of all pages */
export function pageHref(path) {
  return `/p/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/**
 * The paths above a path, nearest first.
 * @param {string} path
 */
export function pathsAbove(path) {
  const parts = path.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, parts.length - 1 - index).join("/"));
}

/**
 * Whether a change at `changed` concerns `path`: it is the page itself, or one above it.
 * @param {string} path
 * @param {string} changed
 */
export function isAtOrBelow(path, changed) {
  return path === changed || path.startsWith(`${changed}/`);
}

/** @param {string} path */
export function lastPart(path) {
  return path.slice(path.lastIndexOf("/") + 1);
}
