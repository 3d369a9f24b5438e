// @ts-check
/** News of files from /ws, handed to whatever is on the screen. Keeps nothing. */
import { useEffect, useRef } from "preact/hooks";
import { calmly } from "../calmly.js";

/** @type {Set<() => void>} */
const hearers = new Set();

export function onFileNews() {
  for (const hear of hearers) hear();
}

/** While the component is there: `load` again for news. @param {() => Promise<void>} load never throws */
export function useFileNews(load) {
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const again = calmly(() => latest.current());
    hearers.add(again);
    return () => {
      hearers.delete(again);
    };
  }, []);
}
