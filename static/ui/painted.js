// @ts-check
/** What can wait until after a paint: the person sees the answer to a key first, and the rest of it a moment later. */
import { useEffect, useState } from "preact/hooks";

/**
 * Whether what is named was painted once.
 * @param {string} name
 */
export function usePainted(name) {
  const [painted, setPainted] = useState("");
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => setPainted(name));
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [name]);
  return painted === name;
}
