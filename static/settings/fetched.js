// @ts-check
/**
 * The data of a settings section: loaded when it opens, when the window gets the focus, and after each change; once the
 * connection is back if that failed.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { comebacks } from "../live.js";
import { query } from "../rpc.js";
import { html } from "../ui/html.js";

/**
 * Loads the answer of a query. Only the answer to the newest request counts: an older one that comes late would replace
 * newer data.
 * @template {ProcedureName} Name
 * @param {Name} name a query without input
 * @param {boolean} [wanted]
 */
export function useFetched(name, wanted = true) {
  const [data, setData] = useState(/** @type {OutputOf<Name> | null} */ (null));
  const [problem, setProblem] = useState("");
  const asked = useRef(0);
  const load = useCallback(async () => {
    const mine = ++asked.current;
    try {
      const found = await query(name);
      if (mine !== asked.current) return;
      setData(found);
      setProblem("");
    } catch (error) {
      if (mine === asked.current) setProblem(reasonOf(error));
    }
  }, [name]);
  useEffect(() => {
    if (!wanted) return undefined;
    const look = () => {
      if (document.visibilityState === "visible") void load();
    };
    void load();
    addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      asked.current += 1;
      removeEventListener("focus", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, [load, wanted]);
  useEffect(() => void (problem && load()), [comebacks.value]);
  return { data, problem, load };
}

/** @param {{ of: { data: unknown, problem: string, load: () => Promise<void> }, what: string }} props */
export function Pending({ of, what }) {
  if (of.problem) {
    return html`<div class="notice bad" role="alert">
      <span>Could not load ${what}: ${of.problem}</span>
      <button class="button small" onClick=${() => void of.load()}>Try again</button>
    </div>`;
  }
  return of.data === null && html`<p class="quiet-text" role="status">Loading ${what}</p>`;
}

/** @param {unknown} error */
export function reasonOf(error) {
  return error instanceof Error ? error.message : String(error);
}
