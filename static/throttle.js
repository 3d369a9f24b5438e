// @ts-check
/** Throttles work that live events request more often than it has to be done. */

/** Events within this time cause one fetch. */
const GATHER_MS = 300;

/**
 * Returns a function that runs `work` soon, and once more if it was called meanwhile, never two at a time.
 * @param {() => Promise<void>} work
 */
export function throttled(work) {
  let asked = false;
  let busy = false;
  return async () => {
    asked = true;
    if (busy) return;
    busy = true;
    while (asked) {
      await new Promise((done) => setTimeout(done, GATHER_MS));
      asked = false;
      await work();
    }
    busy = false;
  };
}
