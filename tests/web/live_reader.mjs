/**
 * Plays the beginning of the live updates, without a network and without time: reads a list of steps as JSON from
 * standard input, and writes what the app does at each: the frames that it sends, and "refetch".
 *
 *     echo '[["ask", 1], ["ready", 7], ["answer", 1, 5]]' | node live_reader.mjs
 *
 * Steps: ask ID; answer ID SEQ (null: it did not say); leave ID (nobody wants the answer); ready SEQ;
 * cut (the socket); wait MS.
 */
import { readFileSync } from "node:fs";

/** @type {unknown[]} */
let done = [];
/** @type {any} */
let socket = null;
/** @type {Map<number, { at: number, work: () => void }>} */
const timers = new Map();
let clock = 0;
let count = 0;

globalThis.location = { protocol: "http:", host: "localhost" };
globalThis.document = { addEventListener() {} };
globalThis.addEventListener = () => undefined;
globalThis.setInterval = () => 0;
globalThis.setTimeout = (work, ms) => {
  timers.set(++count, { at: clock + ms, work });
  return count;
};
globalThis.clearTimeout = (timer) => timers.delete(timer);
globalThis.WebSocket = class {
  constructor() {
    socket = this;
  }
  send(frame) {
    const { type, after } = JSON.parse(frame);
    done.push([type, after]);
  }
};

const { asking, listen } = await import(new URL("../../static/live.js", import.meta.url).href);
const answers = new Map();
const steps = {
  ask: (id) => answers.set(id, asking()),
  answer: (id, seq) => answers.get(id)(seq),
  leave: (id) => answers.get(id)(undefined),
  ready: (seq) => socket.onmessage({ data: JSON.stringify({ type: "ready", seq }) }),
  cut: () => socket.onclose({ code: 1006 }),
  wait: (ms) => {
    clock += ms;
    for (const [id, { at, work }] of timers) {
      if (at > clock) continue;
      timers.delete(id);
      work();
    }
  },
};

listen(["mail"], { event: () => undefined, refetch: () => done.push("refetch"), signedOut: () => undefined });
const found = JSON.parse(readFileSync(0, "utf8")).map(([step, ...given]) => {
  done = [];
  steps[step](...given);
  return done;
});
process.stdout.write(JSON.stringify(found));
