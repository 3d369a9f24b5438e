// @ts-check
/** The states and times of runs and steps in words. Pure: the caller passes the current time. */
import { until } from "../settings/dates.js";
import { ago, number } from "../ui/format.js";

/** @typedef {"calm" | "busy" | "good" | "bad"} Tone */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** @type {Record<RunState, { title: string, tone: Tone }>} */
export const STATE_WORDS = {
  queued: { title: "Queued", tone: "calm" },
  running: { title: "Running", tone: "busy" },
  waiting: { title: "Waiting", tone: "calm" },
  done: { title: "Done", tone: "good" },
  failed: { title: "Failed", tone: "bad" },
  cancelled: { title: "Cancelled", tone: "calm" },
};

/** @type {Record<RunStep["kind"], string>} */
export const KIND_WORDS = {
  step: "step", tool: "call", llm: "model", timer: "timer", approval: "approval", child: "run",
};

/** @param {RunState} state */
export function hasEnded(state) {
  return state === "done" || state === "failed" || state === "cancelled";
}

/**
 * The times of a run: when it began, when its pause ends, how long it took.
 * @param {Run} run
 * @param {number} nowMs
 */
export function runTimes({ state, createdAt, startedAt, endedAt, dueAt }, nowMs) {
  if (hasEnded(state) && endedAt) {
    return `ended ${ago(endedAt, nowMs)}${startedAt ? `, took ${between(startedAt, endedAt)}` : ""}`;
  }
  if (!startedAt) return `queued ${ago(createdAt, nowMs)}`;
  const began = `began ${ago(startedAt, nowMs)}`;
  if (state !== "waiting") return began;
  return `${began}, ${dueAt ? `goes on ${until(dueAt, nowMs)} at the latest` : "waits for a person or another run"}`;
}

/** @param {RunStep} step @returns {{ title: string, tone: Tone }} */
export function stepState({ state, kind, error }) {
  if (state === "done") return { title: "Done", tone: "good" };
  if (kind === "approval" && error?.type === "Declined") return { title: "Declined", tone: "calm" };
  if (state === "failed") return { title: "Failed", tone: "bad" };
  if (kind === "approval") return { title: "Needs a decision", tone: "busy" };
  if (kind === "timer" || kind === "child") return { title: "Waiting", tone: "calm" };
  return { title: "Tried again", tone: "busy" };
}

/**
 * How often a step was tried, how long it took, and when it continues.
 * @param {RunStep} step
 * @param {number} nowMs
 */
export function stepFacts({ kind, state, attempts, startedAt, endedAt, dueAt }, nowMs) {
  const due = state === "waiting" && dueAt ? until(dueAt, nowMs) : "";
  const verb = kind === "timer" ? "ends" : kind === "approval" ? "expires" : "next try";
  return [
    attempts > 1 && `${number(attempts)} tries`,
    endedAt ? `took ${between(startedAt, endedAt)}` : `began ${ago(startedAt, nowMs)}`,
    due && `${verb} ${due}`,
  ].filter(Boolean).join(", ");
}

/** @param {RunDetail["usage"]} usage */
export function tokens({ inputTokens, outputTokens }) {
  return `${told(inputTokens)} in, ${told(outputTokens)} out`;
}

/** @param {number | null} count */
function told(count) {
  return count === null ? "not told" : number(count);
}

/** @param {string} from @param {string} to */
function between(from, to) {
  return took(Date.parse(to) - Date.parse(from));
}

/** "120 ms", "4.2 s", "3 min 5 s", "2 h 10 min", "3 days 4 h". @param {number} ms */
export function took(ms) {
  if (ms < SECOND_MS) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < MINUTE_MS) return `${(Math.floor(ms / 100) / 10).toFixed(1)} s`;
  if (ms < HOUR_MS) return two(ms, MINUTE_MS, "min", SECOND_MS, "s");
  if (ms < DAY_MS) return two(ms, HOUR_MS, "h", MINUTE_MS, "min");
  return two(ms, DAY_MS, ms < 2 * DAY_MS ? "day" : "days", HOUR_MS, "h");
}

/**
 * @param {number} ms
 * @param {number} large
 * @param {string} largeName
 * @param {number} small
 * @param {string} smallName
 */
function two(ms, large, largeName, small, smallName) {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest ? ` ${rest} ${smallName}` : ""}`;
}
