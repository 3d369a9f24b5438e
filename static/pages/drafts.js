// @ts-check
/**
 * Unsaved texts, by path. They are kept when the person goes to another page, and the browser warns before the tab
 * closes.
 */

/**
 * @typedef {{ title: string, body: string, revision: number }} Draft `revision`: the one it began with, 0 for no page
 */

/** @type {Map<string, Draft>} */
const drafts = new Map();

/** @param {string} path */
export function draftOf(path) {
  return drafts.get(path) ?? null;
}

/**
 * @param {string} path
 * @param {Draft} draft
 */
export function keepDraft(path, draft) {
  if (drafts.size === 0) addEventListener("beforeunload", warn);
  drafts.set(path, draft);
}

/** @param {string} path */
export function dropDraft(path) {
  drafts.delete(path);
  if (drafts.size === 0) removeEventListener("beforeunload", warn);
}

/** @param {BeforeUnloadEvent} event */
function warn(event) {
  event.preventDefault();
}
