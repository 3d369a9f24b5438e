// @ts-check
/** Loads the list of files and keeps it up to date, down to the last page that was loaded before. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { queryAlone } from "../rpc.js";
import { reasonOf } from "../settings/fetched.js";
import { useFileNews } from "./news.js";

/**
 * @typedef {OutputOf<"files.list">["files"][number]} Listed
 * @typedef {{ files: Listed[], next: string | null }} Found
 */

const A_TIME = 60;
/** The server's limit for one page. */
const MOST_AT_ONCE = 200;
/** After an event, at most this many files of a long list are loaded again; others come when the user nears them. */
const READ_ANEW = 1_000;

/**
 * @param {{ text: string, sort: import("./address.js").Sort, kinds: import("./address.js").Sieve["kinds"] }} wanted
 */
export function useFiles(wanted) {
  const [data, setData] = useState(/** @type {Found | null} */ (null));
  const [problem, setProblem] = useState("");
  const asking = useRef(new AbortController());
  const shown = useRef(/** @type {Found} */ ({ files: [], next: null }));
  const asked = useRef(A_TIME); // a read that an event starts must reach as far as the read that it aborts
  const read = useCallback(async (/** @type {Found} */ before, /** @type {number} */ down) => {
    asking.current.abort();
    asked.current = down;
    const { signal } = (asking.current = new AbortController());
    try {
      const found = await readOn(wanted, before, down, signal);
      if (signal.aborted) return;
      shown.current = found;
      setData(found);
      setProblem("");
    } catch (error) {
      if (!signal.aborted) setProblem(reasonOf(error));
    }
  }, [wanted.text, wanted.sort, wanted.kinds]);
  const load = () => read({ files: [], next: null }, Math.min(READ_ANEW, asked.current));
  const more = useCallback(() => read(shown.current, shown.current.files.length + A_TIME), [read]);
  useEffect(() => {
    void read({ files: [], next: null }, A_TIME);
    return () => asking.current.abort();
  }, [read]);
  useFileNews(load);
  return { data, problem, load, more };
}

/**
 * Reads on from the end of `before` until there are `down` files, or no more. A page may be empty if matches are rare.
 * @param {Parameters<typeof useFiles>[0]} wanted @param {Found} before @param {number} down @param {AbortSignal} signal
 * @returns {Promise<Found>}
 */
async function readOn({ text, sort, kinds }, before, down, signal) {
  const files = [...before.files];
  let next = before.next;
  do {
    const limit = Math.min(MOST_AT_ONCE, Math.max(A_TIME, down - files.length));
    const page = await queryAlone("files.list", { sort, limit, ...(text && { text }), ...(kinds.length && { kinds }),
      ...(next !== null && { cursor: next }) }, { signal });
    files.push(...page.files);
    next = page.nextCursor;
  } while (next !== null && files.length < down && !signal.aborted);
  return { files, next };
}
