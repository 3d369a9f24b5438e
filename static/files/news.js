// @ts-check
/** Passes live events about files from /ws to the components on the screen. Stores nothing. */
import { useEffect, useRef } from "preact/hooks";
import { throttled } from "../throttle.js";

/** @type {Set<() => void>} */
const hearers = new Set();

export function onFileNews() {
  for (const hear of hearers) hear();
}

/** While the component is mounted, calls `load` after events. @param {() => Promise<void>} load never throws */
export function useFileNews(load) {
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const again = throttled(() => latest.current());
    hearers.add(again);
    return () => {
      hearers.delete(again);
    };
  }, []);
}
