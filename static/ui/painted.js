// @ts-check
/** What can wait until after a paint: the person sees the answer to a key first, and the rest of it a moment later. */
import { useEffect, useRef, useState } from "preact/hooks";

/**
 * Whether what is named was painted, `afterMs` ago. A name that comes back counts as new.
 * @param {string} name
 * @param {number} [afterMs]
 */
export function usePainted(name, afterMs = 0) {
  const [painted, setPainted] = useState(0);
  const turn = useRef({ name, number: 1 });
  if (turn.current.name !== name) turn.current = { name, number: turn.current.number + 1 };
  const { number } = turn.current;
  useEffect(() => {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const frame = requestAnimationFrame(() => {
      timer = setTimeout(() => setPainted(number), afterMs);
    });
    return () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }, [number]);
  return painted === number;
}
