// @ts-check
/** The window and its pointer as signals, for what CSS alone can't decide. */
import { signal } from "@preact/signals";

/** Whether list and thread are shown side by side. The same limit is in mail/list.css. */
export const split = matching("(min-width: 67.5rem)");
/** Whether the compose window always fills the screen; compose.css has the same limits. */
export const fills = matching("(max-width: 45rem), (max-height: 30rem)");
/** Whether a finger points: nothing can be dropped then. */
export const coarse = matching("(pointer: coarse)");

/** @param {string} query */
function matching(query) {
  const list = matchMedia(query);
  const found = signal(list.matches);
  list.addEventListener("change", () => {
    found.value = list.matches;
  });
  return found;
}
