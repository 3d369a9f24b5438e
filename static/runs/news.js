// @ts-check
/** Passes live events about runs from /ws to the components on the screen. Stores nothing. */
import { useEffect, useRef } from "preact/hooks";
import { throttled } from "../throttle.js";

/** @typedef {{ id: string, parentId: string | null }} Changed */

/** @type {Set<(changed: Changed | null) => void>} */
const hearers = new Set();

/** @param {LiveEvent} event */
export function onRunNews(event) {
  const parentId = /** @type {{ parentId?: string | null } | null} */ (event.payload)?.parentId ?? null;
  tell({ id: event.id, parentId });
}

export function refetchRuns() {
  tell(null);
}

/**
 * While the component is mounted, calls `load` for events that concern it, and when the window becomes visible again.
 * At most one call at a time.
 * @param {(changed: Changed) => boolean} concerns
 * @param {() => Promise<void>} load never throws
 */
export function useRunNews(concerns, load) {
  const latest = useRef({ concerns, load });
  latest.current = { concerns, load };
  useEffect(() => {
    const again = throttled(() => latest.current.load());
    const hear = (/** @type {Changed | null} */ changed) => {
      if (changed === null || latest.current.concerns(changed)) again();
    };
    const look = () => {
      if (document.visibilityState === "visible") again();
    };
    hearers.add(hear);
    document.addEventListener("visibilitychange", look);
    return () => {
      hearers.delete(hear);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
}

/** @param {Changed | null} changed null: any run may have changed */
function tell(changed) {
  for (const hear of hearers) hear(changed);
}
