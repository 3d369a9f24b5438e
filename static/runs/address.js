// @ts-check
/** The addresses of runs: /p/runs, with a filter in its query, and /p/runs/<id>. Pure. */
import { decodePart } from "../router.js";

/** @typedef {{ state: RunState | null, workflow: string | null }} Filter */

/** @type {RunState[]} */
export const STATES = ["queued", "running", "waiting", "done", "failed", "cancelled"];
const RUNS = /^\/p\/runs(?:\/([^/]+))?\/?$/;

/** @param {URL} url @returns {{ id: string | null, filter: Filter } | null} */
export function parseRunsAddress({ pathname, searchParams }) {
  const match = RUNS.exec(pathname);
  if (!match) return null;
  const state = STATES.find((one) => one === searchParams.get("state")) ?? null;
  const workflow = searchParams.get("workflow") || null;
  return { id: match[1] ? decodePart(match[1]) : null, filter: { state, workflow } };
}

/** @param {string} id */
export function runHref(id) {
  return `/p/runs/${encodeURIComponent(id)}`;
}

/** @param {Partial<Filter>} filter */
export function runsHref({ state, workflow }) {
  const query = new URLSearchParams({ ...(state && { state }), ...(workflow && { workflow }) }).toString();
  return query ? `/p/runs?${query}` : "/p/runs";
}
