// @ts-check
/** How much room there is, as a signal: the few layout facts that styles alone can't settle. */
import { signal } from "@preact/signals";

/** Below it list and thread take turns; the same line stands in mail/list.css. */
const SPLIT_QUERY = "(min-width: 67.5rem)";

const query = matchMedia(SPLIT_QUERY);
/** Whether list and thread stand side by side. */
export const split = signal(query.matches);

query.addEventListener("change", () => {
  split.value = query.matches;
});
