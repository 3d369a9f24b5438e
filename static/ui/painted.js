// @ts-check
/** What can wait until after a paint: the person sees the answer to a key first, and the rest of it a moment later. */
import { useEffect, useState } from "preact/hooks";

/**
 * Whether what is named was painted once, `afterMs` ago.
 * @param {string} name
 * @param {number} [afterMs]
 */
export function usePainted(name, afterMs = 0) {
  const [painted, setPainted] = useState("");
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => setPainted(name), afterMs);
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [name]);
  return painted === name;
}
