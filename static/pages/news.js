// @ts-check
/** Passes events of pages from /ws to the components on the screen. Stores nothing. */
import { useEffect, useRef } from "preact/hooks";

/** @typedef {(changed: string | null) => void} Hear `changed`: the path that changed; null: any may have changed */

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

/** Calls `hear` at each change while the component is mounted. @param {Hear} hear */
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
