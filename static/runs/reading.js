// @ts-check
/** Loads what the pages show, and keeps it up to date: the runs of a filter, and one run. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { queryAlone, RpcError } from "../rpc.js";
import { reasonOf } from "../settings/fetched.js";
import { useRunNews } from "./news.js";

/** @typedef {import("./address.js").Filter} Filter */

/**
 * The newest runs of a filter, down to the last run that was loaded before, even if new ones came above it. `more`
 * loads one more page.
 * @param {Filter} filter must not change while the component is mounted
 */
export function useRuns(filter) {
  const [found, setFound] = useState(/** @type {OutputOf<"runs.list"> | null} */ (null));
  const [problem, setProblem] = useState("");
  const asked = useRef(0);
  const last = useRef(/** @type {Run | null} */ (null));
  const wantsMore = useRef(false);
  const load = useCallback(async () => {
    const mine = ++asked.current;
    try {
      const answer = await readDownTo(filter, last.current, wantsMore.current);
      if (mine !== asked.current) return;
      if (wantsMore.current || !last.current) last.current = answer.runs.at(-1) ?? null;
      wantsMore.current = false;
      setFound(answer);
      setProblem("");
    } catch (error) {
      if (mine === asked.current) setProblem(reasonOf(error));
    }
  }, []);
  useEffect(() => void load(), []);
  useRunNews(() => true, load);
  const more = () => {
    wantsMore.current = true;
    return load();
  };
  return { data: found, problem, load, more };
}

/**
 * @param {Filter} filter
 * @param {Run | null} last
 * @param {boolean} more
 */
async function readDownTo(filter, last, more) {
  /** @type {Run[]} */
  const runs = [];
  let pages = more ? 1 : 0;
  for (let cursor = /** @type {string | null} */ (null); ;) {
    const answer = await queryAlone("runs.list", { ...filter, cursor });
    runs.push(...answer.runs);
    const end = runs.at(-1);
    const isDown = !last || !end || isBelow(end, last);
    if (isDown) pages -= 1;
    cursor = answer.nextCursor;
    if (!cursor || pages < 0) return { runs, nextCursor: cursor };
  }
}

/** Whether `one` is `other`, or below it in the list. @param {Run} one @param {Run} other */
function isBelow(one, other) {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt;
  return one.id <= other.id;
}

/** @param {string} id must not change while the component is mounted */
export function useRun(id) {
  const [run, setRun] = useState(/** @type {RunDetail | null} */ (null));
  const [problem, setProblem] = useState("");
  const [missing, setMissing] = useState(false);
  const asked = useRef(0);
  const load = useCallback(async () => {
    const mine = ++asked.current;
    try {
      const found = await queryAlone("runs.get", { id });
      if (mine !== asked.current) return;
      setRun(found);
      setMissing(false);
      setProblem("");
    } catch (error) {
      if (mine !== asked.current) return;
      setMissing(error instanceof RpcError && error.code === "NOT_FOUND");
      setProblem(reasonOf(error));
    }
  }, []);
  useEffect(() => void load(), []);
  useRunNews((changed) => changed.id === id || changed.parentId === id, load);
  return { data: run, problem, missing, load };
}
