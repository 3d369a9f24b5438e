// @ts-check
/** The pause before the next attempt: exponential, capped and jittered. It only computes the pause, and never waits. */

/**
 * Doubles with each failure from `firstMs` up to `longestMs`. It is drawn from the upper half of that, so that many
 * browsers that lost the same server do not come back together.
 * @param {{ firstMs: number, longestMs: number }} bounds
 * @param {number} failures in a row, the current one included: 1 after the first
 */
export function pauseMs({ firstMs, longestMs }, failures) {
  return Math.min(longestMs, firstMs * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}
