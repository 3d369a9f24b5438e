// @ts-check
/** The Files page: the user's uploads, with search, order and viewer, and new uploads by button or by drag. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { navigate } from "../router.js";
import { Pending } from "../settings/fetched.js";
import { number } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { coarse } from "../ui/media.js";
import { useTypedWords } from "../ui/typed_words.js";
import { filesHref, SIEVES, SORTS } from "./address.js";
import { bringBack, canBringBack, download, open, remove, renaming } from "./actions.js";
import { useDrop } from "./drop.js";
import { useFiles } from "./reading.js";
import { RenameDialog } from "./rename.js";
import { FileRow } from "./row.js";
import { uploading } from "./sending.js";
import { Storage } from "./storage.js";
import { UploadList } from "./uploads.js";
import { Viewer } from "./viewer.js";

/** @typedef {import("./reading.js").Listed} Listed */

const FIELD = "files-find";
const PICKER = "files-pick";
const LINKS = ".file-link";
/** How far below the visible part the end of the list may be when more is loaded. */
const NEAR = "600px";

/** The list on the screen, for the keys. @type {{ files: Listed[] }} */
const shown = { files: [] };

/** @type {import("../keys.js").Shortcut[]} */
export const SHORTCUTS = [
  { keys: ["j", "ArrowDown"], label: "Next file", repeats: true, run: () => step(1) },
  { keys: ["k", "ArrowUp"], label: "Previous file", repeats: true, run: () => step(-1) },
  { keys: ["/"], label: "Find a file", run: () => document.getElementById(FIELD)?.focus() },
  { keys: ["c"], label: "Upload files", also: ["Add", "Attach"], run: () => document.getElementById(PICKER)?.click() },
  action(["o"], "Look at it, or download it", (file) => open(file, shown.files)),
  action(["d"], "Download", download),
  action(["r"], "Rename", (file) => {
    renaming.value = file;
  }),
  action(["#"], "Delete the file", (file) => {
    step(1);
    void remove(file);
  }),
  { keys: ["z"], label: "Bring back what was deleted last", when: canBringBack, run: () => void bringBack() },
  { keys: ["u", "Escape"], label: "Back to the inbox", run: () => navigate("/p/mail") },
];

/** @param {{ filter: import("./address.js").Filter }} props */
export function FilesPage({ filter }) {
  const { over, listeners } = useDrop((files) => uploading.send(files));
  const typed = useTypedWords(filter.text, (text) => navigate(filesHref({ ...filter, text }), { replace: true }));
  const wanted = { ...filter, text: typed.words };
  useLayoutEffect(() => registerKeys("Files", SHORTCUTS), []);
  useEffect(() => {
    document.title = "Files – svc";
  }, []);
  return html`<main class="panel scrolls files-page" ...${listeners}><div class="page-frame">
    <div class="files-head"><h1>Files</h1><${UploadButton} /></div>
    <${Tools} filter=${wanted} typed=${typed} />
    <${UploadList} uploads=${uploading.list.value} cancel=${uploading.cancel} />
    <${List} filter=${wanted} />
    <${Storage} />
    ${over && html`<div class="files-drop" aria-hidden="true"><p>Drop to upload</p></div>`}
    <${RenameDialog} />
    <${Viewer} />
  </div></main>`;
}

function UploadButton() {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const chosen = (/** @type {{ currentTarget: HTMLInputElement }} */ event) => {
    uploading.send([...(event.currentTarget.files ?? [])]);
    event.currentTarget.value = ""; // the same file may be chosen again
  };
  return html`<input id=${PICKER} type="file" multiple hidden ref=${input} onChange=${chosen} />
    <button class="button primary" onClick=${() => input.current?.click()}><${Icon} name="upload" size=${16} />
      <span>Upload</span></button>`;
}

/** @param {{ filter: import("./address.js").Filter, typed: ReturnType<typeof useTypedWords> }} props */
function Tools({ filter, typed: { words, type, settle } }) {
  const { sieve, sort } = filter;
  const valueOf = (/** @type {Event} */ event) => /** @type {HTMLSelectElement} */ (event.target).value;
  const sift = (/** @type {Event} */ event) => navigate(filesHref({ ...filter,
    sieve: SIEVES.find(({ name }) => name === valueOf(event)) ?? SIEVES[0] }), { replace: true });
  const order = (/** @type {Event} */ event) => navigate(filesHref({ ...filter,
    sort: /** @type {import("./address.js").Sort} */ (valueOf(event)) }), { replace: true });
  return html`<div class="files-tools">
    <input id=${FIELD} class="files-find" type="search" placeholder="Find a file" aria-label="Find a file"
      aria-keyshortcuts="/" autocomplete="off" spellcheck=${false} maxlength="200" value=${words}
      onInput=${(/** @type {Event} */ event) => type(/** @type {HTMLInputElement} */ (event.target).value)}
      onBlur=${settle} onKeyDown=${(/** @type {KeyboardEvent} */ event) => leaveField(event, () => type(""))} />
    <select class="files-choice" aria-label="Kind" value=${sieve.name} onChange=${sift}>
      ${SIEVES.map(({ name, title }) => html`<option key=${name} value=${name}>${title}</option>`)}</select>
    <select class="files-choice" aria-label="Order" value=${sort} onChange=${order}>
      ${Object.entries(SORTS).map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}
    </select>
  </div>`;
}

/** @param {{ filter: import("./address.js").Filter }} props */
function List({ filter }) {
  const { text, sieve, sort } = filter;
  const words = text.trim();
  const found = useFiles({ text: words, sort, kinds: sieve.kinds });
  const files = found.data?.files ?? [];
  shown.files = files;
  const count = `${number(files.length)}${found.data?.next ? " or more" : ""}`;
  const said = !found.data || (!words && !sieve.name) ? ""
    : files.length ? `${count} ${files.length === 1 ? "file" : "files"}` : "No file is like that.";
  return html`<p class="fine" role="status">${said}</p>
    <${Pending} of=${found} what="your files" />
    ${found.data && !files.length && !words && !sieve.name && html`<div class="empty">
      <${Icon} name="file" size=${44} />
      <p class="empty-title">No files yet</p>
      <p>${coarse.value ? "Press Upload to add one." : "Drop files here, or press Upload."}${" "}
        Attachments that you send and files on pages appear here, too.</p>
    </div>`}
    ${files.length > 0 && html`<section class="setting files-list" aria-label="Your files">
      <ul>${files.map((file) => html`<${FileRow} key=${file.id} file=${file} among=${files} />`)}</ul>
      ${found.data?.next && html`<${More} more=${found.more} at=${found.data.next} />`}
    </section>`}`;
}

/** Loads the next files when the end of the list is near. @param {{ more: () => Promise<void>, at: string }}
 * props */
function More({ more, at }) {
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => {
    if (!button.current) return undefined;
    const watcher = new IntersectionObserver((seen) => {
      if (seen.some((one) => one.isIntersecting)) void more();
    }, { root: button.current.closest(".files-page"), rootMargin: NEAR });
    watcher.observe(button.current);
    return () => watcher.disconnect();
  }, [at, more]);
  return html`<button class="button" ref=${button} onClick=${() => void more()}>Show more</button>`;
}

/** Escape clears the field, or leaves an empty one. @param {KeyboardEvent} event @param {() => void} clear */
function leaveField(event, clear) {
  if (event.key !== "Escape" || event.isComposing) return;
  event.stopPropagation(); // outside the field, Escape leaves the page
  const field = /** @type {HTMLInputElement} */ (event.target);
  if (field.value) clear();
  else field.blur();
}

/** @param {1 | -1} by */
function step(by) {
  const links = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(LINKS)]);
  const at = links.findIndex((one) => one.closest("[data-file]")?.contains(document.activeElement));
  links[at < 0 ? 0 : Math.max(0, Math.min(at + by, links.length - 1))]?.focus();
}

/** The file whose row has the focus. */
function current() {
  const id = document.activeElement?.closest("[data-file]")?.getAttribute("data-file");
  return shown.files.find((one) => one.id === id) ?? null;
}

/** @param {string[]} keys @param {string} label @param {(file: Listed) => void} act @returns
 * {import("../keys.js").Shortcut} */
function action(keys, label, act) {
  return { keys, label, acts: true, when: () => current() !== null, run: () => {
    const file = current();
    if (file) act(file);
  } };
}
