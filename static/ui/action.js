// @ts-check
/**
 * Runs what a button starts at the server, one call at a time: a second press before the answer has come starts
 * nothing. On a slow connection people press again.
 */
import { useRef, useState } from "preact/hooks";

/** `busy`: the answer is on its way; `problem`: why the last one failed. */
export function useAction() {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const underWay = useRef(false); // `busy` changes only with the next draw
  const run = async (/** @type {() => Promise<unknown>} */ work) => {
    if (underWay.current) return;
    underWay.current = true;
    setBusy(true);
    setProblem("");
    try {
      await work();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    } finally {
      underWay.current = false;
      setBusy(false);
    }
  };
  return { busy, problem, run };
}
