// @ts-check
/** Files on their way to the server: how far each is, and why one did not get there. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
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

/**
 * What is on its way, and `send` for more; `stored` is called with each file that arrived, in the order of arrival.
 * @param {(file: StoredFile) => void} stored
 */
export function useUploads(stored) {
  const [uploads, setUploads] = useState(/** @type {Upload[]} */ ([]));
  const latest = useRef({ stored, uploads });
  latest.current = { stored, uploads };
  const last = useRef(0);
  const forget = useCallback((/** @type {number} */ key) => setUploads((all) => all.filter((one) => one.key !== key)),
    []);
  const send = useCallback((/** @type {Iterable<File>} */ files) => {
    for (const file of files) {
      const key = ++last.current;
      const change = (/** @type {Partial<Upload>} */ changed) =>
        setUploads((all) => all.map((one) => (one.key === key ? { ...one, ...changed } : one)));
      const request = start(file, {
        progress: (sent) => change({ sent }),
        failed: (problem) => change({ problem }),
        stored: (record) => {
          forget(key);
          latest.current.stored(record);
        },
      });
      setUploads((all) => [...all, { key, name: file.name, size: file.size, sent: 0, problem: "", request }]);
    }
  }, []);
  const cancel = useCallback((/** @type {Upload} */ upload) => {
    upload.request.abort();
    forget(upload.key);
  }, []);
  useEffect(() => () => latest.current.uploads.forEach((one) => one.request.abort()), []);
  return { uploads, send, cancel };
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
