// @ts-check
/**
 * The meeting that this window records, also while it shows other pages: sends the sound to the server, and receives
 * the transcript.
 *
 * Theory. Each block of sound is buffered until the server confirms that it is stored. If the connection is lost, the
 * recording goes on into the buffer. The next connection names the same meeting, and sends what the server does not
 * have. If that meeting is over by then (the service was restarted, or it took too long), a new meeting goes on with
 * the buffered sound.
 */
import { computed, signal } from "@preact/signals";
import { pauseMs } from "../backoff.js";
import { navigate } from "../router.js";
import { mutate } from "../rpc.js";
import { MEETINGS_HREF, meetingHref } from "./address.js";
import { capture, CaptureProblem, RATE } from "./capture.js";
import { Held } from "./held.js";

const BYTES_A_SECOND = RATE * 2;
/** Seconds of sound that are buffered: as long as the server waits for a recorder with a lost connection. */
const MAX_HELD_S = 300;
const PAUSES = { firstMs: 500, longestMs: 8_000 };
/** If the server sends nothing for so long while sound is unconfirmed, the connection counts as dead. */
const DEAD_AFTER_MS = 20_000;
const MAX_LINES_SHOWN = 400;
const CLOSE_OVER = 4404;
const CLOSE_SIGNED_OUT = 4401;
const CLOSES_FOR_GOOD = new Set([1003, 1008, 1009, 1011]);

/** @typedef {{ text: string, start: number, end: number, speaker?: string }} Line */
/**
 * @typedef {object} Recording
 * @property {"starting" | "recording" | "paused" | "stopping"} state
 * @property {string} title
 * @property {string} id of the meeting; "" until the server has sent it
 * @property {number} seconds that were recorded
 * @property {Line[]} lines
 * @property {string} partial the words of the current sentence so far
 * @property {boolean} linked
 * @property {number} waiting seconds that the server has not confirmed as stored
 * @property {number} lost seconds
 * @property {string} problem
 * @property {string} trouble a passing problem of the recogniser; "" again with the next words
 */

/** @type {import("@preact/signals").Signal<Recording | null>} */
export const recording = signal(/** @type {Recording | null} */ (null));
/** Why the last recording ended or could not begin; "" where all is well. */
export const problem = signal("");
/** The sound level, from 0 to 1. */
export const level = signal(0);
export const isRecording = computed(() => recording.value !== null);

/** @type {Session | null} */
let session = null;

/** Begins to record. Call it from a click. @param {{ title: string, withTab: boolean }} wanted */
export async function start(wanted) {
  if (session) return;
  problem.value = "";
  const mine = new Session(wanted.title);
  session = mine;
  try {
    await mine.begin(wanted.withTab);
  } catch (error) {
    mine.end(error instanceof CaptureProblem ? error.message : String(error));
  }
}

export function pause() {
  session?.setPaused(true);
}

export function goOn() {
  session?.setPaused(false);
}

export function stop() {
  session?.stop();
}

/** Stops waiting for the connection. The server keeps what it has. */
export function giveUp() {
  session?.end("The connection did not come back: what was not stored by then is lost.");
}

/** @param {string} title */
export function rename(title) {
  session?.rename(title);
}

addEventListener("beforeunload", (event) => {
  if (session) event.preventDefault(); // the browser asks the person
});
addEventListener("online", () => session?.connectNow());

class Session {
  /** @param {string} title */
  constructor(title) {
    this.title = title;
    this.held = new Held(MAX_HELD_S * BYTES_A_SECOND);
    this.recorded = 0;
    this.failures = 0;
    this.isReady = false;
    this.heardAt = 0;
    /** @type {WebSocket | null} */
    this.socket = null;
    /** @type {import("./capture.js").Capture | null} */
    this.capture = null;
    /** @type {{ release: () => Promise<void> } | null} */
    this.awake = null;
    this.timer = setInterval(() => this.look(), 1_000);
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.retry = undefined;
    recording.value = { state: "starting", title, id: "", seconds: 0, lines: [], partial: "", linked: true, waiting: 0,
      lost: 0, problem: "", trouble: "" };
  }

  /** @param {boolean} withTab */
  async begin(withTab) {
    this.capture = await capture({
      withTab, onBlock: (block) => this.take(block), onGone: (which) => this.gone(which),
    });
    if (session !== this) {
      this.capture.stop(); // the recording was ended while the browser asked for permission
      return;
    }
    this.say({ state: "recording" });
    this.connect();
    this.awake = await /** @type {any} */ (navigator).wakeLock?.request("screen").catch(() => null) ?? null;
  }

  /** @param {Partial<Recording>} change */
  say(change) {
    if (session === this && recording.value) recording.value = { ...recording.value, ...change };
  }

  /** @param {import("./capture.js").Block} block */
  take({ samples, loudest }) {
    if (recording.value?.state !== "recording") return;
    level.value = loudest;
    this.recorded += samples.byteLength;
    this.held.add(samples);
    this.say({ seconds: this.recorded / BYTES_A_SECOND, lost: this.held.lost / BYTES_A_SECOND });
    if (this.isReady) this.socket?.send(samples);
  }

  /** @param {"microphone" | "tab"} which */
  gone(which) {
    if (which === "tab") this.say({ problem: "The tab is shared no longer: the microphone is recorded alone." });
    else {
      this.say({ problem: "The microphone went away: the recording ends there." });
      this.stop();
    }
  }

  /** @param {boolean} paused */
  setPaused(paused) {
    const { state } = recording.value ?? {};
    if (state !== "recording" && state !== "paused") return;
    level.value = 0;
    this.say({ state: paused ? "paused" : "recording" });
  }

  stop() {
    if (recording.value?.state === "stopping") return;
    if (!this.socket && !this.recorded) {
      this.end("");
      return;
    }
    this.capture?.stop();
    level.value = 0;
    this.say({ state: "stopping" });
    if (this.isReady) this.socket?.send('{"type":"stop"}');
  }

  /** @param {string} title */
  rename(title) {
    this.title = title;
    this.say({ title });
    const id = recording.value?.id;
    if (id) void mutate("meetings.rename", { id, title }).catch((error) => this.say({ problem: String(error) }));
  }

  connect() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const { id = "", title = "" } = recording.value ?? {};
    const query = new URLSearchParams(id ? { meeting: id } : { format: "pcm16", rate: String(RATE), title });
    const mine = new WebSocket(`${scheme}//${location.host}/meetings/audio?${query}`);
    mine.binaryType = "arraybuffer";
    this.socket = mine;
    this.heardAt = Date.now();
    mine.onmessage = (message) => {
      if (this.socket === mine) this.hear(JSON.parse(String(message.data)));
    };
    mine.onclose = (close) => {
      if (this.socket === mine) this.closed(close);
    };
  }

  connectNow() {
    if (this.socket || !recording.value || recording.value.state === "starting") return;
    clearTimeout(this.retry);
    this.connect();
  }

  /** @param {any} frame */
  hear(frame) {
    this.heardAt = Date.now();
    const { lines = [] } = recording.value ?? {};
    if (frame.type === "ready") this.ready(frame);
    else if (frame.type === "kept") this.held.keep(frame.received);
    else if (frame.type === "partial") this.say({ partial: frame.text, trouble: "" });
    else if (frame.type === "final") {
      this.say({ partial: "", lines: [...lines, frame].slice(-MAX_LINES_SHOWN), trouble: "" });
    } else if (frame.type === "problem") this.say(frame.passing ? { trouble: frame.message }
      : { problem: frame.message });
    else if (frame.type === "done") this.done(frame);
    this.say({ waiting: this.held.size / BYTES_A_SECOND });
  }

  /** @param {{ meeting: string, received: number }} frame */
  ready({ meeting, received }) {
    this.failures = 0;
    this.isReady = true;
    this.say({ id: meeting, linked: true });
    for (const block of this.held.from(received)) this.socket?.send(block);
    if (recording.value?.state === "stopping") this.socket?.send('{"type":"stop"}');
  }

  /** @param {{ path: string | null }} frame */
  done({ path }) {
    const id = recording.value?.id ?? "";
    const why = recording.value?.problem ?? "";
    const isHere = location.pathname === MEETINGS_HREF;
    this.end(path ? why : "Nothing was recorded.");
    if (path && isHere) navigate(meetingHref(id));
  }

  /** @param {CloseEvent} close */
  closed({ code, reason }) {
    const wasReady = this.isReady;
    this.socket = null;
    this.isReady = false;
    this.say({ linked: false });
    if (code === CLOSE_SIGNED_OUT) this.end("You were signed out: the recording ends there, and is kept.");
    else if (CLOSES_FOR_GOOD.has(code)) this.end(`The recording ended: ${reason || "the server closed it"}`);
    else if (code === CLOSE_OVER) this.beginAnew();
    else if (!wasReady && !recording.value?.id && this.failures > 1) {
      this.end("The server did not take the recording. It may be full, or you may record in other windows already.");
    } else this.again();
  }

  again() {
    this.failures += 1;
    this.retry = setTimeout(() => this.connect(), pauseMs(PAUSES, this.failures));
  }

  /** Begins another meeting with the buffered sound, because the server has ended this one. */
  beginAnew() {
    this.held.restart();
    const { state, title = "" } = recording.value ?? {};
    if (state === "stopping" && !this.held.size) {
      this.end("");
      return;
    }
    const more = title.endsWith(", continued") ? title : `${title || "Meeting"}, continued`;
    this.say({ id: "", title: more, lines: [], partial: "", problem: "The link was lost for too long: what was " +
      "recorded before is a meeting of its own, and this one goes on from there." });
    this.again();
  }

  /** Runs once a second: updates `waiting`, and replaces a dead connection. */
  look() {
    this.say({ waiting: this.held.size / BYTES_A_SECOND });
    if (!this.isReady || !this.held.size || recording.value?.state === "paused") return;
    if (Date.now() - this.heardAt < DEAD_AFTER_MS) return;
    const dead = this.socket;
    this.socket = null;
    this.isReady = false;
    this.say({ linked: false });
    dead?.close();
    this.again();
  }

  /** @param {string} why "" where all is well */
  end(why) {
    if (session !== this) return;
    session = null;
    clearInterval(this.timer);
    clearTimeout(this.retry);
    this.capture?.stop();
    void this.awake?.release().catch(() => undefined);
    const open = this.socket;
    this.socket = null;
    open?.close();
    level.value = 0;
    problem.value = why;
    recording.value = null;
  }
}
