// @ts-check
/**
 * One terminal's socket (/pty), which connects again after a lost connection.
 *
 * Theory. The terminal lives on the server, and goes on without its socket. A socket that opens with its name gets the
 * newest output again, from a point where an empty screen can begin. So a lost connection loses only older output. This
 * page tells the server how much it has drawn, and the server never sends far ahead of that. Otherwise a lot of output
 * could wait in this page, and the effect of ^C would be seen only after all of it.
 *
 * Owns the socket, the pauses between attempts, and the messages to the server. It draws nothing.
 */
import { pauseMs } from "../backoff.js";

const PAUSES = { firstMs: 500, longestMs: 15_000 };
/** The page reports to the server after this many drawn bytes: a tenth of what the server sends ahead. */
const TELL_EVERY_BYTES = 12_288;
/** Pasted text is sent in pieces of this size: the server closes a socket if a message is larger than a megabyte. */
const PIECE_BYTES = 65_536;
/** The number of typed pieces that are kept while the socket connects. They are sent when it is ready. */
const EARLY_PIECES = 256;
const CLOSE_SIGNED_OUT = 4401;
const CLOSE_FORBIDDEN = 4403;
const CLOSE_GONE = 4404;
const CLOSE_TAKEN_OVER = 4409;
const CLOSE_REFUSED = 1008;

/**
 * "taken": another window shows it. "ended": it does not run any more. "refused": the server gives no terminal, for the
 * reason in the words.
 * @typedef {"connecting" | "live" | "lost" | "taken" | "ended" | "refused"} LinkState
 * @typedef {object} Listener
 * @property {(state: LinkState, words: string) => void} state
 * @property {(session: string, replayed: number) => void} ready begins an empty screen; its first `replayed` bytes are
 *   old output
 * @property {(data: Uint8Array) => void} output
 * @property {() => void} signedOut
 * @typedef {{ type: "ready", session: string, replayed: number } | { type: "exit", code?: number, signal?: string }
 *   | { type: "error", message: string }} Frame
 */

export class Link {
  /** @type {string | null} */
  session;
  /** @type {Listener} */
  #listener;
  /** @type {() => { cols: number, rows: number }} */
  #size;
  /** @type {WebSocket | null} */
  #socket = null;
  #failures = 0;
  #drawn = 0;
  #told = 0;
  #ending = "";
  /** @type {Uint8Array<ArrayBuffer>[]} */
  #early = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #retry;

  /**
   * @param {string | null} session null: a new terminal
   * @param {() => { cols: number, rows: number }} size
   * @param {Listener} listener
   */
  constructor(session, size, listener) {
    this.session = session;
    this.#size = size;
    this.#listener = listener;
  }

  /** Connects now, without waiting for the end of a pause. Takes the terminal back from another window. */
  connect() {
    clearTimeout(this.#retry);
    if (this.#socket) return;
    const { cols, rows } = this.#size();
    const query = new URLSearchParams({ cols: String(cols), rows: String(rows) });
    if (this.session) query.set("session", this.session);
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const mine = new WebSocket(`${scheme}//${location.host}/pty?${query}`);
    mine.binaryType = "arraybuffer";
    this.#socket = mine;
    this.#listener.state("connecting", "");
    mine.onmessage = ({ data }) => {
      if (typeof data === "string") this.#hear(JSON.parse(data));
      else this.#listener.output(new Uint8Array(data));
    };
    mine.onclose = ({ code, reason }) => {
      if (this.#socket === mine) this.#closed(code, reason);
    };
  }

  /** Closes the socket. The terminal goes on without it. */
  close() {
    clearTimeout(this.#retry);
    const mine = this.#socket;
    this.#socket = null;
    mine?.close();
  }

  /** @param {Uint8Array} data */
  type(data) {
    const isEarly = this.#socket?.readyState === WebSocket.CONNECTING;
    for (let at = 0; at < data.length; at += PIECE_BYTES) {
      const piece = data.slice(at, at + PIECE_BYTES);
      if (!isEarly) this.#send(piece);
      else if (this.#early.length < EARLY_PIECES) this.#early.push(piece);
    }
  }

  /** @param {{ cols: number, rows: number }} size */
  resize({ cols, rows }) {
    this.#send(JSON.stringify({ type: "resize", cols, rows }));
  }

  kill() {
    this.#send('{"type":"kill"}');
  }

  /** @param {number} bytes */
  drew(bytes) {
    this.#drawn += bytes;
    if (this.#drawn - this.#told >= TELL_EVERY_BYTES) this.#tell();
  }

  #tell() {
    this.#told = this.#drawn;
    this.#send(JSON.stringify({ type: "drawn", bytes: this.#drawn }));
  }

  /** @param {string | Uint8Array<ArrayBuffer>} message */
  #send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(message);
  }

  /** @param {Frame} frame */
  #hear(frame) {
    if (frame.type === "ready") {
      this.session = frame.session;
      this.#failures = this.#drawn = 0;
      this.#listener.ready(frame.session, frame.replayed);
      this.#listener.state("live", "");
      this.#tell();
      for (const piece of this.#early.splice(0)) this.#send(piece);
    } else if (frame.type === "exit") {
      this.#ending = frame.signal ? `Ended by ${frame.signal}.` : `Ended with status ${frame.code}.`;
    }
  }

  /** @param {number} code @param {string} reason */
  #closed(code, reason) {
    this.#socket = null;
    this.#early = [];
    if (this.#ending) this.#listener.state("ended", this.#ending);
    else if (code === CLOSE_GONE) this.#listener.state("ended", "It has ended meanwhile.");
    else if (code === CLOSE_TAKEN_OVER) this.#listener.state("taken", "Another window shows this terminal.");
    else if (code === CLOSE_REFUSED || code === CLOSE_FORBIDDEN) this.#listener.state("refused", reason);
    else this.#again(code, reason);
  }

  /** @param {number} code @param {string} reason */
  #again(code, reason) {
    this.#failures += 1;
    if (code === CLOSE_SIGNED_OUT) this.#listener.signedOut();
    const lost = this.session ? "The connection is lost. The terminal goes on." : "The server gives no terminal.";
    this.#listener.state("lost", (!this.session && reason) || lost);
    this.#retry = setTimeout(() => this.connect(), pauseMs(PAUSES, this.#failures));
  }
}
