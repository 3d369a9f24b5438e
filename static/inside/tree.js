// @ts-check
/** The rows of the task tree: a filter by words, and the waiting time of a task in words. Pure. */

/** @typedef {OutputOf<"inside.look">["tasks"][number]} Row */

/**
 * The rows that contain each word, and all their parents: a task is understood by its place in the tree.
 * @param {readonly Row[]} rows
 * @param {string} words
 * @returns {Row[]}
 */
export function matching(rows, words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  /** @type {Set<Row>} */
  const kept = new Set();
  /** @type {Row[]} */
  const path = [];
  for (const row of rows) {
    path.length = Math.min(path.length, row.depth);
    path[row.depth] = row;
    const text = `${row.name} ${row.waitsIn} ${row.waitsFor}`.toLowerCase();
    if (wanted.every((word) => text.includes(word))) path.forEach((one) => kept.add(one));
  }
  return rows.filter((row) => kept.has(row));
}

/** How long a task waits: "7 s", "at least 7 s". @param {number} seconds @param {boolean} atLeast */
export function waits(seconds, atLeast) {
  if (!atLeast) return since(seconds);
  return seconds < 1 ? "a few seconds or less" : `at least ${since(seconds)}`;
}

/** "40 ms", "7 s", "12 min", "3 h", "2 days". @param {number} seconds */
export function since(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3_600) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}
