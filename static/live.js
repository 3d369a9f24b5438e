// @ts-check
/**
 * Live updates over /ws: one socket, subscribed to the app's topics, which resumes after an interruption.
 *
 * Theory. Each event has the sequence number of the outbox; a reconnect sends the highest one seen as `after`, so no
 * event is missed or received twice. If the server no longer stores events that far back, it says `reset`, and all
 * listeners fetch again. The first connection begins at the oldest answer that was fetched before it, so nothing is
 * fetched twice: it waits for the answers that are under way, at most for a while. Only if the age of an answer is not
 * known, or it comes later and is older than that, all is fetched again.
 *
 * Owns the socket, its pauses (exponential, jittered, capped) and the state that the banner shows. It does not know
 * what the events mean, and never decides that a person is logged out: an HTTP answer does.
 */
import { batch, signal } from "@preact/signals";
import { pauseMs } from "./backoff.js";

const PAUSES = { firstMs: 500, longestMs: 30_000 };
const PING_EVERY_MS = 25_000;
const PONG_WITHIN_MS = 10_000;
const CLOSE_SIGNED_OUT = 4401;
/** About one animation frame. */
const TOGETHER_MS = 16;
/** A short interruption is not worth a banner. */
const FAILURES_BEFORE_BANNER = 2;
const NOT_KNOWN = -1;
/** How long the first subscription waits for answers. On a slow connection the first rows take seconds. */
const ANSWERS_WITHIN_MS = 10_000;

/** @typedef {{ event: (event: LiveEvent) => void, refetch: () => void, signedOut: () => void }} Listener */

/** "connecting" until the first connection, then "live" or "lost". */
export const liveState = signal(/** @type {"connecting" | "live" | "lost"} */ ("connecting"));
/** When the next attempt begins (ms since the epoch), while "lost". */
export const nextAttemptAt = signal(0);
/** How often the connection came back. What could not be fetched without it is fetched again then. */
export const comebacks = signal(0);

/** @type {WebSocket | null} */
let socket = null;
/** @type {number | null} */
let position = null;
/** The outbox position of the oldest answer before the first subscription. */
let oldest = Infinity;
/** The queries without an answer, before the first subscription. @type {Set<object>} */
const unanswered = new Set();
/**
 * The unanswered queries for which the first subscription waits, and the function that then begins it.
 * @type {{ for: Set<object>, begin: () => void } | null}
 */
let held = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let heldTimer;
/** Where the stream began. */
let begun = 0;
let failures = 0;
/** @type {string[]} */
let topics = [];
/** @type {Listener | null} */
let listener = null;
/**
 * Events that are collected to be delivered together; null: the next one is delivered at once.
 * @type {LiveEvent[] | null}
 */
let waiting = null;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let retryTimer;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let pongTimer;

/**
 * Begin to listen. Called once.
 * @param {string[]} wanted
 * @param {Listener} callbacks
 */
export function listen(wanted, callbacks) {
  topics = wanted;
  listener = callbacks;
  setInterval(ping, PING_EVERY_MS);
  addEventListener("online", reconnectNow);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState === "visible") (socket ? ping : reconnectNow)();
  });
  connect();
}

/**
 * A query is sent. Returns a function to call with the newest event before its answer was made; null: that is not
 * known, or there was no answer; undefined: nobody wants it any more. An answer that is under way when the stream
 * begins may be older than that.
 * @returns {(seq: number | null | undefined) => void}
 */
export function asking() {
  if (position !== null) return () => undefined; // the events since are heard
  const one = {};
  unanswered.add(one);
  return (seq) => {
    unanswered.delete(one);
    held?.for.delete(one);
    if (seq !== undefined) answered(seq);
    if (held?.for.size === 0) held.begin();
  };
}

/** @param {number | null} seq */
function answered(seq) {
  if (position === null) oldest = Math.min(oldest, seq ?? NOT_KNOWN);
  else if (seq === null || seq < begun) listener?.refetch();
}

/** Reconnects now, without waiting for the end of the pause. */
export function reconnectNow() {
  if (socket) return;
  clearTimeout(retryTimer);
  connect();
}

function connect() {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const mine = new WebSocket(`${scheme}//${location.host}/ws`);
  socket = mine;
  mine.onmessage = (message) => receive(mine, JSON.parse(String(message.data)));
  mine.onclose = (close) => {
    if (socket === mine) closed(close.code);
  };
}

/**
 * @param {WebSocket} from
 * @param {LiveFrame} frame
 */
function receive(from, frame) {
  clearTimeout(pongTimer);
  if (frame.type === "ready") {
    if (failures) comebacks.value += 1;
    failures = 0;
    liveState.value = "live";
    if (position === null && unanswered.size) hold(() => subscribe(from, frame.seq));
    else subscribe(from, frame.seq);
  } else if (frame.type === "event") {
    position = Math.max(position ?? 0, frame.seq);
    tell(frame);
  } else if (frame.type === "reset") {
    position = frame.seq;
    if (waiting) waiting = []; // everything is fetched again
    listener?.refetch();
  }
}

/**
 * Begins once the queries that are under way are answered, or after a while.
 * @param {() => void} begin
 */
function hold(begin) {
  held = { for: new Set(unanswered), begin };
  heldTimer = setTimeout(begin, ANSWERS_WITHIN_MS);
}

function letGo() {
  held = null;
  clearTimeout(heldTimer);
}

/**
 * @param {WebSocket} at
 * @param {number} newest
 */
function subscribe(at, newest) {
  letGo();
  const refetches = position === null && oldest === NOT_KNOWN;
  if (position === null) position = begun = refetches ? newest : Math.min(newest, oldest);
  at.send(JSON.stringify({ type: "subscribe", topics, after: position }));
  if (refetches) listener?.refetch();
}

/**
 * Delivers events: a single one at once. Many events, as from a first sync or an undo of hundreds of threads, are
 * delivered together per frame: the lists are drawn once for all of them.
 * @param {LiveEvent} event
 */
function tell(event) {
  if (waiting) {
    waiting.push(event);
    return;
  }
  waiting = [];
  setTimeout(tellWaiting, TOGETHER_MS);
  listener?.event(event);
}

function tellWaiting() {
  const events = waiting ?? [];
  waiting = null;
  if (!events.length) return;
  waiting = [];
  setTimeout(tellWaiting, TOGETHER_MS);
  batch(() => {
    for (const event of events) {
      try {
        listener?.event(event);
      } catch (fault) {
        reportError(fault); // the other events are still delivered
      }
    }
  });
}

/** @param {number} code */
function closed(code) {
  socket = null;
  letGo();
  clearTimeout(pongTimer);
  failures += 1;
  if (failures >= FAILURES_BEFORE_BANNER || liveState.value === "connecting") liveState.value = "lost";
  if (code === CLOSE_SIGNED_OUT) listener?.signedOut();
  const pause = pauseMs(PAUSES, failures);
  nextAttemptAt.value = Date.now() + pause;
  retryTimer = setTimeout(connect, pause);
}

function ping() {
  const mine = socket;
  if (mine?.readyState !== WebSocket.OPEN) return;
  mine.send('{"type":"ping"}');
  clearTimeout(pongTimer);
  // After sleep a socket can look open and be dead: closing it takes minutes, so it is abandoned.
  pongTimer = setTimeout(() => {
    if (socket !== mine) return;
    mine.onmessage = null;
    mine.close();
    closed(1006);
  }, PONG_WITHIN_MS);
}
