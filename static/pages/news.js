// @ts-check
/** News of pages from /ws, handed to whatever is on the screen. Keeps nothing. */
import { useEffect, useRef } from "preact/hooks";

/** @typedef {(changed: string | null) => void} Hear `changed`: the path; null: anything may have */

/** @type {Set<Hear>} */
const hearers = new Set();

/** @param {LiveEvent} event */
export function onPagesEvent(event) {
  const path = /** @type {{ path?: unknown } | null} */ (event.payload)?.path;
  tell(typeof path === "string" ? path : null);
}

export function refetchPages() {
  tell(null);
}

/** Hear of changes while the component is there. @param {Hear} hear */
export function usePagesNews(hear) {
  const latest = useRef(hear);
  latest.current = hear;
  useEffect(() => {
    const mine = (/** @type {string | null} */ changed) => latest.current(changed);
    hearers.add(mine);
    return () => void hearers.delete(mine);
  }, []);
}

/** @param {string | null} changed */
function tell(changed) {
  for (const hear of hearers) hear(changed);
}
