// @ts-check
/** Uploads in progress: the progress of each, and why one failed. */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { goToLogin, query } from "../rpc.js";
import { fileSize } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { request } from "./requests.js";
import { UploadRefused, sendResumably } from "./tus.js";

/**
 * `stop` ends the upload; `again` starts a failed one again.
 * @typedef {{ id: string, name: string, mime: string, size: number }} StoredFile
 * @typedef {{ key: number, name: string, size: number, sent: number, state: "queued" | "sending" | "waiting",
 *   problem: string, stop: () => void, again: () => void }} Upload
 */

/** Smaller files are sent in one request: to send them again costs less than to ask how much the server has. */
const RESUMABLE_FROM_BYTES = 5_000_000;
/** How many uploads of one list run at the same time; the others wait. */
const AT_ONCE = 3;

const CREATED = 201;
/** The statuses after which nothing of an upload is stored, and another try may succeed; 0: no answer came. */
const SAFE_AGAIN = new Set([0, 408, 429, 503]);
const REASONS = /** @type {Record<number, string>} */ ({
  0: "The server can’t be reached, or broke the upload off. Nothing was stored; try again.",
  401: "You are not signed in any more.",
  408: "It came too slowly, and the server gave up. Try again.",
  413: "It is larger than this workspace takes.",
  415: "The server does not take this kind of file.",
  429: "Too many uploads have begun and not ended. Wait, or cancel some.",
  507: "The server’s disk is full.",
});
const MAY_BE_STORED = "All of it was sent, but no answer came: it may be stored. Look for it before you try again.";

/** A list of uploads, as a signal for the components that show it. `stored` is called with each stored file. */
export class Uploads {
  /** @param {(file: StoredFile) => void} stored */
  constructor(stored) {
    this.list = signal(/** @type {Upload[]} */ ([]));
    this.stored = stored;
    this.last = 0;
    this.sending = 0;
    /** @type {(() => Promise<void>)[]} */
    this.line = [];
  }

  /** How many uploads are neither complete nor failed. */
  get underWay() {
    return this.list.value.filter((one) => !one.problem).length;
  }

  /** @param {Iterable<File>} files @param {(file: StoredFile) => void} [then] called for each, after `stored` */
  send = (files, then) => {
    for (const file of files) this.#add(file, then);
    this.#next();
  };

  /** @param {Upload} upload */
  cancel = (upload) => {
    upload.stop();
    this.#forget(upload.key);
  };

  abort() {
    for (const one of this.list.value) one.stop();
  }

  /** @param {File} file @param {(file: StoredFile) => void} [then] */
  #add(file, then) {
    const key = ++this.last;
    const leaving = new AbortController();
    const change = (/** @type {Partial<Upload>} */ changed) => {
      this.list.value = this.list.value.map((one) => (one.key === key ? { ...one, ...changed } : one));
    };
    const again = () => {
      this.#forget(key);
      this.send([file], then);
    };
    this.list.value = [...this.list.value, { key, name: file.name, size: file.size, sent: 0, state: "queued",
      problem: "", stop: () => leaving.abort(), again }];
    this.line.push(async () => {
      if (leaving.signal.aborted) return;
      change({ state: "sending" });
      try {
        const record = await start(file, { signal: leaving.signal, sent: (sent) => change({ sent }),
          waits: (waits) => change({ state: waits ? "waiting" : "sending" }) });
        this.#forget(key);
        this.stored(record);
        then?.(record);
      } catch (error) {
        if (!leaving.signal.aborted) change({ problem: wordsOf(error) });
      }
    });
  }

  #next() {
    while (this.sending < AT_ONCE) {
      const work = this.line.shift();
      if (!work) return;
      this.sending += 1;
      void work().finally(() => {
        this.sending -= 1;
        this.#next();
      });
    }
  }

  /** @param {number} key */
  #forget(key) {
    this.list.value = this.list.value.filter((one) => one.key !== key);
  }
}

/**
 * The uploads of one component; they end when it is unmounted. `send` starts more; `stored` as in Uploads.
 * @param {(file: StoredFile) => void} stored
 */
export function useUploads(stored) {
  const latest = useRef(stored);
  latest.current = stored;
  const [mine] = useState(() => new Uploads((file) => latest.current(file)));
  useEffect(() => () => mine.abort(), []);
  return { uploads: mine.list.value, send: mine.send, cancel: mine.cancel };
}

/** @param {{ uploads: Upload[], cancel: (upload: Upload) => void }} props */
export function UploadList({ uploads, cancel }) {
  return html`<ul class="uploads" aria-live="polite" aria-label="Uploads">
    ${uploads.map((one) => html`<li key=${one.key} class=${one.problem ? "upload failed-upload" : "upload"}>
      <${Icon} name=${one.problem ? "warning" : "file"} size=${16} />
      <span class="upload-name">${one.name}</span>
      ${one.problem
        ? html`<span class="upload-problem" role="alert">${one.problem}</span>`
        : html`<progress max=${one.size || 1} value=${one.sent}
          aria-label=${`Uploading ${one.name}, ${fileSize(one.size)}`}></progress>
          <span class="upload-state" aria-hidden=${one.state === "sending"}>${stateOf(one)}</span>`}
      ${one.problem && html`<button type="button" class="button small" aria-label=${`Try again: ${one.name}`}
        onClick=${one.again}>Try again</button>`}
      <button type="button" class="icon-button" aria-label=${`${one.problem ? "Dismiss" : "Cancel"}: ${one.name}`}
        onClick=${() => cancel(one)}><${Icon} name="close" size=${16} /></button>
    </li>`)}
  </ul>`;
}

/** @param {Upload} upload */
function stateOf({ state, sent, size }) {
  if (state === "queued") return "in line";
  return state === "waiting" ? "waits for the server" : `${fileSize(sent)} of ${fileSize(size)}`;
}

/** @param {File} file @param {import("./tus.js").Watch} watch @returns {Promise<StoredFile>} */
async function start(file, watch) {
  if (file.size < RESUMABLE_FROM_BYTES) {
    let left = file.size;
    const answer = await sendWhole(file, { ...watch, sent: (bytes) => {
      left = file.size - bytes;
      watch.sent(bytes);
    } });
    if (answer.status === CREATED) return /** @type {StoredFile} */ (answer.body);
    if (answer.status === 0 && left === 0) throw new Error(MAY_BE_STORED); // another try could store it twice
    if (!SAFE_AGAIN.has(answer.status) || watch.signal.aborted) throw new UploadRefused(answer.status);
  } // one that broke off is tried again as a large one is
  const id = await sendResumably(file, watch);
  const said = { id, name: file.name, mime: file.type || "application/octet-stream", size: file.size };
  return query("files.get", { id }).catch(() => said); // the file is stored, even if this query fails
}

/** @param {File} file @param {import("./tus.js").Watch} watch */
async function sendWhole(file, { signal: ending, sent }) {
  const headers = { "content-type": file.type || "application/octet-stream",
    "x-svc-filename": encodeURIComponent(file.name.replace(/\p{Surrogate}/gu, "\ufffd")) };
  return request({ method: "POST", url: "/files", headers, body: file, signal: ending, progress: sent });
}

/** @param {unknown} error */
function wordsOf(error) {
  if (!(error instanceof UploadRefused)) return error instanceof Error ? error.message : String(error);
  if (error.status === 401) goToLogin();
  return REASONS[error.status] ?? `The server answered ${error.status}. Try again.`;
}
