// @ts-check
/** The width of the window as a signal, for layout decisions that CSS alone can't make. */
import { signal } from "@preact/signals";

/** On a narrower window only the list or the thread is shown. The same limit is in mail/list.css. */
const SPLIT_QUERY = "(min-width: 67.5rem)";

const query = matchMedia(SPLIT_QUERY);
/** Whether list and thread are shown side by side. */
export const split = signal(query.matches);

query.addEventListener("change", () => {
  split.value = query.matches;
});
