// @ts-check
/** The page editor: text on one side, its preview on the other; files are added by drag, paste or picker. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { UploadList, useUploads } from "../files/uploads.js";
import { html, classes } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { drafts } from "./drafts.js";
import { Markdown } from "./markdown.js";
import { useSaving } from "./saving.js";
import { Crumbs } from "./view.js";

/** The preview is updated after this pause in typing. */
const PREVIEW_AFTER_MS = 120;

/**
 * @param {{ path: string, page: PageDetail | null, left: boolean, settled: () => void, done: () => void }} props
 *   `left`: its text is one from before that was not saved; `settled`: called when that ends
 */
export function Editor({ path, page, left, settled, done }) {
  const saving = useSaving(path, page, settled);
  const { draft, write, theirs } = saving;
  const area = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const { uploads, send, cancel } = useUploads((file) => insert(area.current, markdownOf(file), (body) =>
    write({ body })));
  const save = async () => {
    if (theirs === undefined && (await saving.save())) toast("Saved.");
  };
  const finish = async () => {
    if (await saving.save()) done();
  };
  const leave = () => {
    drafts.drop(path);
    done();
  };
  useLayoutEffect(() => begin(area.current, { atTop: page !== null && !left }), []);
  useSaveKey(save);
  return html`<form class="editor" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); void finish();
    }}>
    <h1 class="sr-only">Edit ${draft.title}</h1>
    <${Crumbs} path=${path} />
    <div class="editor-head">
      <label class="field grow"><span class="sr-only">Title</span>
        <input class="editor-title" value=${draft.title} maxlength="200" placeholder="Title"
          onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) =>
            write({ title: event.currentTarget.value })} /></label>
      <${FilePicker} send=${send} />
      <button type="button" class="button" onClick=${leave}>Discard</button>
      <button class="button primary" aria-keyshortcuts="Control+S Meta+S" aria-busy=${saving.saving}
        disabled=${theirs !== undefined}>Save</button>
    </div>
    ${left && drafts.of(path) && html`<p class="fine" role="status">You wrote this before, and did not save it.</p>`}
    ${saving.problem && html`<p class="form-problem" role="alert">Not saved: ${saving.problem}</p>`}
    ${theirs !== undefined && html`<${Conflict} theirs=${theirs} busy=${saving.saving} loadTheirs=${saving.loadTheirs}
      keepMine=${saving.keepMine} />`}
    <${UploadList} uploads=${uploads} cancel=${cancel} />
    <div class="editor-panes">
      <${TextArea} area=${area} body=${draft.body} write=${write} send=${send} />
      <${Preview} body=${draft.body} />
    </div>
  </form>`;
}

/**
 * A browser puts the caret at the end of a text that was set, and scrolls there: a long page is edited from its top.
 * @param {HTMLTextAreaElement | null} area @param {{ atTop: boolean }} where
 */
function begin(area, { atTop }) {
  if (atTop) area?.setSelectionRange(0, 0);
  area?.focus();
}

/**
 * @param {{ area: { current: HTMLTextAreaElement | null }, body: string, write: (changed: { body: string }) => void,
 * send: (files: Iterable<File>) => void }} props
 */
function TextArea({ area, body, write, send }) {
  const [over, setOver] = useState(false);
  const drag = (/** @type {DragEvent} */ event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    setOver(true);
  };
  const drop = (/** @type {DragEvent} */ event) => {
    setOver(false);
    if (!event.dataTransfer?.files.length) return;
    event.preventDefault();
    send(event.dataTransfer.files);
  };
  const paste = (/** @type {ClipboardEvent} */ event) => {
    const pasted = event.clipboardData;
    if (!pasted?.files.length || pasted.types.includes("text/plain")) return; // office copies text as a picture, too
    event.preventDefault();
    send(pasted.files);
  };
  return html`<textarea ref=${area} class=${classes({ "editor-text": true, over })} aria-label="Text, in Markdown"
    value=${body}
    placeholder="Write in Markdown. Drop or paste files here."
    onInput=${(/** @type {{ currentTarget: HTMLTextAreaElement }} */ event) =>
      write({ body: event.currentTarget.value })}
    onDragOver=${drag} onDragLeave=${() => setOver(false)} onDrop=${drop} onPaste=${paste}></textarea>`;
}

/** @param {{ body: string }} props */
function Preview({ body }) {
  const [shown, setShown] = useState(body);
  useEffect(() => {
    const timer = setTimeout(() => setShown(body), PREVIEW_AFTER_MS);
    return () => clearTimeout(timer);
  }, [body]);
  return html`<section class="editor-preview" aria-label="Preview" tabindex="0">
    ${shown.trim() ? html`<${Markdown} text=${shown} />` : html`<p class="quiet-text">The preview appears here.</p>`}
  </section>`;
}

/**
 * @param {{ theirs: PageDetail | null, busy: boolean, loadTheirs: () => void, keepMine: () => Promise<boolean> }} props
 */
function Conflict({ theirs, busy, loadTheirs, keepMine }) {
  return html`<div class="notice bad" role="alert">
    <${Icon} name="warning" />
    <div>
      <p>${theirs ? "Somebody saved this page while you were writing."
        : "Somebody deleted or moved this page while you were writing."}
        ${theirs ? " Theirs replaces your text; yours becomes the next revision."
          : " You can leave it so, or make it again with your text."}</p>
      <p class="page-actions">
        <button type="button" class="button small" disabled=${busy} onClick=${loadTheirs}>
          ${theirs ? "Load theirs" : "Drop mine"}</button>
        <button type="button" class="button small" disabled=${busy} onClick=${() => void keepMine()}>Keep mine</button>
      </p>
    </div>
  </div>`;
}

/** @param {{ send: (files: Iterable<File>) => void }} props */
function FilePicker({ send }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const chosen = (/** @type {{ currentTarget: HTMLInputElement }} */ event) => {
    send([...(event.currentTarget.files ?? [])]);
    event.currentTarget.value = ""; // so that the same file can be chosen again
  };
  return html`<input type="file" multiple hidden ref=${input} onChange=${chosen} />
    <button type="button" class="button" onClick=${() => input.current?.click()}><${Icon} name="clip" size=${16} /> Add
      files</button>`;
}

/** Saves at Ctrl+S and Cmd+S, wherever the focus is. @param {() => Promise<void>} save */
function useSaveKey(save) {
  const latest = useRef(save);
  latest.current = save;
  useLayoutEffect(() => {
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (event.key.toLowerCase() !== "s" || event.altKey || event.shiftKey
        || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      void latest.current();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

/**
 * Inserts text at the caret, and moves the caret behind it.
 * @param {HTMLTextAreaElement | null} area
 * @param {string} text
 * @param {(body: string) => void} changed
 */
function insert(area, text, changed) {
  if (!area) return;
  const before = area.value.slice(0, area.selectionStart);
  const space = before === "" || /\s$/.test(before) ? "" : "\n";
  area.setRangeText(`${space}${text}\n`, area.selectionStart, area.selectionEnd, "end");
  changed(area.value);
}

/**
 * The file as Markdown: an image for a picture, a link for anything else.
 * @param {import("../files/uploads.js").StoredFile} file
 */
function markdownOf(file) {
  const label = file.name.replace(/[[\]\\]/g, "").replace(/\s+/g, " ").trim().slice(0, 200) || "file";
  const link = `[${label}](/files/${file.id}/content)`;
  return file.mime.startsWith("image/") ? `!${link}` : link;
}
