// @ts-check
/** Work that news ask for, more often than it has to be done. */

/** What is told within this time is fetched once. */
const GATHER_MS = 300;

/** `work` soon, and once more where it is asked for meanwhile, never two at a time. @param {() => Promise<void>} work
 */
export function calmly(work) {
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
