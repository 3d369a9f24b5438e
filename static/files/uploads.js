// @ts-check
/** Files on their way to the server: how far each is, and why one did not get there. */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { goToLogin } from "../rpc.js";
import { fileSize } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

/**
 * @typedef {{ id: string, name: string, mime: string, size: number }} StoredFile
 * @typedef {{ key: number, name: string, size: number, sent: number, problem: string, request: XMLHttpRequest }} Upload
 */

const CREATED = 201;
const REASONS = /** @type {Record<number, string>} */ ({
  0: "The server can’t be reached, or broke the upload off. Nothing was stored; try again.",
  401: "You are not signed in any more.",
  408: "It came too slowly, and the server gave up. Try again.",
  413: "It is larger than this workspace takes.",
  415: "The server does not take this kind of file.",
  507: "The server’s disk is full.",
});

/** Files on their way: a signal, for whoever shows them. `stored` is called with each that arrived, as they arrive. */
export class Uploads {
  /** @param {(file: StoredFile) => void} stored */
  constructor(stored) {
    this.list = signal(/** @type {Upload[]} */ ([]));
    this.stored = stored;
    this.last = 0;
  }

  /** How many have neither arrived nor failed. */
  get underWay() {
    return this.list.value.filter((one) => !one.problem).length;
  }

  /** @param {Iterable<File>} files @param {(file: StoredFile) => void} [then] called for each, after `stored` */
  send = (files, then) => {
    for (const file of files) {
      const key = ++this.last;
      const change = (/** @type {Partial<Upload>} */ changed) => {
        this.list.value = this.list.value.map((one) => (one.key === key ? { ...one, ...changed } : one));
      };
      const request = start(file, {
        progress: (sent) => change({ sent }),
        failed: (problem) => change({ problem }),
        stored: (record) => {
          this.#forget(key);
          this.stored(record);
          then?.(record);
        },
      });
      this.list.value = [...this.list.value, { key, name: file.name, size: file.size, sent: 0, problem: "", request }];
    }
  };

  /** @param {Upload} upload */
  cancel = (upload) => {
    upload.request.abort();
    this.#forget(upload.key);
  };

  abort() {
    for (const one of this.list.value) one.request.abort();
  }

  /** @param {number} key */
  #forget(key) {
    this.list.value = this.list.value.filter((one) => one.key !== key);
  }
}

/**
 * What is on its way for a component, and ends with it; `send` for more, `stored` as of Uploads.
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
          aria-label=${`Uploading ${one.name}, ${fileSize(one.size)}`}></progress>`}
      <button type="button" class="icon-button" aria-label=${`${one.problem ? "Dismiss" : "Cancel"}: ${one.name}`}
        onClick=${() => cancel(one)}><${Icon} name="close" size=${16} /></button>
    </li>`)}
  </ul>`;
}

/**
 * Fetch can't tell how much of a body is sent: hence the older way.
 * @param {File} file
 * @param {{ progress: (sent: number) => void, failed: (problem: string) => void, stored: (file: StoredFile) => void }}
 * on
 */
function start(file, on) {
  const request = new XMLHttpRequest();
  request.open("POST", "/files");
  request.setRequestHeader("content-type", file.type || "application/octet-stream");
  request.setRequestHeader("x-svc-filename", encodeURIComponent(file.name.replace(/\p{Surrogate}/gu, "\ufffd")));
  request.responseType = "json";
  request.upload.onprogress = (event) => on.progress(event.loaded);
  request.onerror = () => on.failed(REASONS[0] ?? "");
  request.onload = () => {
    if (request.status === CREATED) on.stored(request.response);
    else on.failed(REASONS[request.status] ?? `The server answered ${request.status}. Try again.`);
    if (request.status === 401) goToLogin();
  };
  request.send(file);
  return request;
}
