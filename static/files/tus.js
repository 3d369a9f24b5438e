// @ts-check
/**
 * Uploads a large file, or a small one that broke off, by the tus protocol (https://tus.io). After a lost connection it
 * continues from what the server has; after a reload, too, once the user chooses the same file again.
 *
 * Theory. `POST` begins an upload and returns its URL; `PATCH` sends the rest of the file; if an answer is missing,
 * `HEAD` asks how many bytes the server has. With the last byte, the server returns the id of the stored file.
 *
 * Owns the pauses between tries, and the list of unfinished uploads in this browser.
 */
import { pauseMs } from "../backoff.js";
import { keepRecentlyUsed, recentlyUsed } from "../recently_used.js";
import { request } from "./requests.js";

const VERSION = { "tus-resumable": "1.0.0" };
const BYTES = "application/offset+octet-stream";
const PAUSES = { firstMs: 1_000, longestMs: 30_000 };
/** After this many tries without progress, about half an hour, the upload fails and the user must act. */
const MAX_TRIES = 60;
const LIST = "uploads";
const MAX_KEPT = 50;

const CREATED = 201;
const APPENDED = 204;
const GONE = new Set([404, 410]);
/** The statuses after which another try may succeed; 0: no answer came. */
const PASSES = new Set([0, 408, 409, 423, 429, 500, 502, 503, 504]);

/** @typedef {{ sent: (bytes: number) => void, waits: (waits: boolean) => void, signal: AbortSignal }} Watch */

/** Why an upload ended early: the status of the answer, 0 for none. */
export class UploadRefused extends Error {
  /** @param {number} status */
  constructor(status) {
    super(`status ${status}`);
    this.status = status;
  }
}

/**
 * Sends a file. Returns the id of the stored file. Throws UploadRefused. `signal` stops the upload, and it is deleted
 * at the server.
 * @param {File} file @param {Watch} watch
 */
export async function sendResumably(file, watch) {
  const upload = { file, url: recall(file), offset: /** @type {number | null} */ (null) };
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const before = upload.offset ?? 0;
    const answer = await step(upload, watch);
    if (watch.signal.aborted) break;
    if (typeof answer === "string") {
      forget(file);
      return answer;
    }
    if (answer !== null) {
      if (!PASSES.has(answer)) {
        forget(file);
        throw new UploadRefused(answer);
      }
      watch.waits(true);
      await pause(tries, watch.signal);
      watch.waits(false);
    }
    if ((upload.offset ?? 0) > before) tries = 0;
  }
  if (!watch.signal.aborted) throw new UploadRefused(0);
  if (upload.url) void request({ method: "DELETE", url: upload.url, headers: VERSION, signal: new AbortController()
    .signal });
  forget(file);
  throw new UploadRefused(0);
}

/**
 * Makes one request. Returns the id of the complete file, the status of a failure, or null to go on.
 * @param {{ file: File, url: string | null, offset: number | null }} upload @param {Watch} watch
 * @returns {Promise<string | number | null>}
 */
async function step(upload, { sent, signal }) {
  const { file, url, offset } = upload;
  if (url === null) {
    const headers = { ...VERSION, "upload-length": String(file.size), "upload-metadata": metadataOf(file) };
    const answer = await request({ method: "POST", url: "/files/tus", headers, signal });
    const location = answer.header("location");
    if (answer.status !== CREATED || !location) return answer.status;
    upload.url = location;
    upload.offset = 0;
    remember(file, location);
    return answer.header("x-svc-file-id");
  }
  if (offset === null) {
    const answer = await request({ method: "HEAD", url, headers: VERSION, signal });
    if (GONE.has(answer.status)) {
      upload.url = null;
      return null;
    }
    if (answer.status !== 200) return answer.status;
    upload.offset = Number(answer.header("upload-offset"));
    sent(upload.offset);
    return answer.header("x-svc-file-id");
  }
  const headers = { ...VERSION, "content-type": BYTES, "upload-offset": String(offset) };
  const answer = await request({ method: "PATCH", url, headers, body: file.slice(offset), signal,
    progress: (bytes) => sent(offset + bytes) });
  upload.offset = answer.status === APPENDED ? Number(answer.header("upload-offset")) : null;
  if (GONE.has(answer.status)) {
    upload.url = null;
    return null;
  }
  return answer.status === APPENDED ? answer.header("x-svc-file-id") : answer.status;
}

/** Waits before the next try: longer each time, or until the browser is online again. @param {number} tries
 * @param {AbortSignal} signal */
function pause(tries, signal) {
  return new Promise((done) => {
    const timer = setTimeout(done, pauseMs(PAUSES, tries + 1));
    const now = () => {
      clearTimeout(timer);
      done(undefined);
    };
    addEventListener("online", now, { once: true, signal });
    signal.addEventListener("abort", now, { once: true });
  });
}

/** @param {File} file */
function metadataOf(file) {
  return `filename ${base64(file.name)},filetype ${base64(file.type || "application/octet-stream")}`;
}

/** Base64 of the text's UTF-8 bytes. @param {string} text */
function base64(text) {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

// The list of unfinished uploads

/** A text that is equal for the same file, as far as a browser can tell. @param {File} file */
function print(file) {
  return `${file.name}\n${file.size}\n${file.type}\n${file.lastModified}`;
}

/** @returns {{ print: string, url: string }[]} */
function kept() {
  return recentlyUsed(LIST).filter((one) => typeof one === "object" && one !== null && "print" in one && "url" in one
    && typeof one.url === "string" && one.url.startsWith("/files/tus/")).map((one) =>
    /** @type {{ print: string, url: string }} */ (one));
}

/** @param {File} file */
function recall(file) {
  return kept().find((one) => one.print === print(file))?.url ?? null;
}

/** @param {File} file @param {string} url */
function remember(file, url) {
  const others = kept().filter((one) => one.print !== print(file));
  keepRecentlyUsed(LIST, [{ print: print(file), url }, ...others].slice(0, MAX_KEPT));
}

/** @param {File} file */
function forget(file) {
  keepRecentlyUsed(LIST, kept().filter((one) => one.print !== print(file)));
}
