// @ts-check
/**
 * The common parts of writing a message: the text with its quote, files, the findings before sending, and the bar to
 * send it. The window and the answer under a message are frames around them.
 */
import { useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { useDrop } from "../../files/drop.js";
import { pastedFiles } from "./ahead.js";
import { Attachments, AttachButton } from "./attachments.js";
import { closeComposer, discard } from "./composer.js";
import { Editor } from "./editor.js";
import { Findings } from "./findings.js";
import { LaterPanel } from "./later.js";
import { isPicture } from "./pictures.js";
import { popOut } from "./places.js";
import { QuotedOriginal } from "./quote.js";
import { useSending } from "./sending.js";
import { putIn } from "../snippets/putting.js";
import { signatureOf } from "./signature.js";
import { Conflict, Notes, SaveState } from "./state.js";

/** @typedef {import("./current.js").Composition} Composition */
/** @typedef {{ current: import("./richtext.js").RichText | null }} EditorRef */

/**
 * The state and the keys of a shown message: Ctrl+Enter sends, with Shift it also archives; Escape keeps the draft.
 * @param {Composition} current
 */
export function useWriting(current) {
  const { draft, uploads } = current;
  void uploads.list.value; // the frame checks the focus whenever an element in it is removed
  void draft.fields.value;
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const editor = useRef(/** @type {import("./richtext.js").RichText | null} */ (null));
  /** Pictures that came before the editor: files like others until it is there. */
  const unplaced = useRef(/** @type {import("../../files/uploads.js").StoredFile[]} */ ([]));
  const [said, setSaid] = useState("");
  const [later, setLater] = useState(false);
  /** Inserts pictures into the text; other files are attached. */
  const take = (/** @type {File[]} */ files, /** @type {Range | undefined} */ place = undefined) => {
    uploads.send(files.filter((one) => !isPicture(one)));
    uploads.send(files.filter(isPicture), (file) => {
      if (!editor.current) return void unplaced.current.push(file);
      draft.pictures.add(file.id);
      editor.current.insertPicture(file, place);
    });
  };
  useLayoutEffect(() => take(pastedFiles()), []);
  const { over, listeners } = useDrop((files, event) => {
    const place = editor.current?.placeOf(event);
    if (place) take(files, place);
    else uploads.send(files);
  });
  const sending = useSending(current);
  current.send = sending.send;
  current.sendLater = () => setLater(true);
  const put = (/** @type {import("../snippets/store.js").Snippet} */ snippet, typed = 0) => {
    if (editor.current) putIn(draft, editor.current, snippet, typed);
  };
  current.putSnippet = put;
  current.chooseSnippet = () => editor.current?.chooseSnippet();
  const ready = useReady(current, editor);
  const begun = (/** @type {import("./richtext.js").RichText} */ loaded) => {
    const kept = new Set(draft.fields.value.attachments.map(({ fileId }) => fileId));
    for (const file of unplaced.current.splice(0).filter(({ id }) => kept.has(id))) {
      draft.pictures.add(file.id);
      loaded.insertPicture(file);
    }
  };
  useSignature(current, editor);
  // Keeps the caret, so that writing continues there if the message moves to another place.
  useLayoutEffect(() => () => {
    current.caret = editor.current?.caret() ?? null;
  }, []);
  const close = () => {
    if (uploads.underWay) setSaid("Files are still on their way. Wait for them, or cancel them, before you close.");
    else void closeComposer();
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.defaultPrevented || event.isComposing) return;
    const mod = event.ctrlKey || event.metaKey;
    if (event.key === "Enter" && mod) {
      event.preventDefault();
      void sending.send(undefined, event.shiftKey);
    } else if (event.key.toLowerCase() === "l" && mod && event.shiftKey) {
      event.preventDefault();
      setLater(true);
    } else if (event.key === ";" && mod) {
      event.preventDefault();
      current.chooseSnippet?.();
    } else if (event.key.toLowerCase() === "p" && mod && event.shiftKey) {
      event.preventDefault();
      popOut();
    } else if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  };
  const snippets = { put, fields: () => draft.fields.value };
  return { current, draft, frame, editor, take, snippets, said, setSaid, later, setLater, over, listeners,
    sending, ready, begun, close, onKeyDown };
}

/** @typedef {ReturnType<typeof useWriting>} Writing */

/** The question above the fields. @param {{ writing: Writing }} props */
export function Contested({ writing: { draft } }) {
  return html`<${Conflict} draft=${draft} />`;
}

/** The text below the fields. @param {{ writing: Writing }} props */
export function Text({ writing }) {
  const { current, draft, take, snippets, said, setSaid, sending, ready, begun } = writing;
  const fields = draft.fields.value;
  return html`<${Editor} key=${draft.replaced} start=${fields.html} label="Message text"
      changed=${(/** @type {string} */ text) => text !== draft.fields.value.html && draft.write({ html: text })}
      files=${take} isOurs=${(/** @type {string} */ id) => draft.pictures.has(id)} said=${setSaid} snippets=${snippets}
      ready=${ready} begun=${begun}>
      ${fields.quote && html`<${QuotedOriginal} quote=${fields.quote} remove=${() => draft.write({ quote: null })} />`}
    </${Editor}>
    <${Attachments} files=${fields.attachments.filter(({ fileId }) => !draft.pictures.has(fileId))}
      uploads=${current.uploads.list.value} cancel=${current.uploads.cancel}
      remove=${(/** @type {string} */ fileId) =>
        draft.write({ attachments: fields.attachments.filter((one) => one.fileId !== fileId) })} />
    <p class="compose-said fine" role="status">${said}</p>
    <${Findings} sending=${sending} />
    <${Notes} draft=${draft} />
    <${Foot} writing=${writing} />`;
}

/** @param {{ writing: Writing }} props */
function Foot({ writing: { current, draft, later, setLater, sending } }) {
  const sendLater = (/** @type {string} */ sendAt) => {
    setLater(false);
    void sending.send(sendAt);
  };
  return html`<div class="compose-foot">
    <div class="send-pair">
      <button type="button" class="button primary" aria-busy=${sending.busy}
        aria-keyshortcuts="Control+Enter Meta+Enter" title="Send (Ctrl+Enter, ⌘+Enter)"
          onClick=${() => void sending.send()}>Send</button>
      <button type="button" class="button primary send-later" aria-label="Send later"
        title="Send later (Ctrl+Shift+L, ⌘+Shift+L)" aria-keyshortcuts="Control+Shift+L Meta+Shift+L"
        aria-haspopup="dialog" aria-expanded=${later ? "true" : "false"}
        onClick=${() => setLater(!later)}><${Icon} name="clock" size=${16} /></button>
      ${later && html`<${LaterPanel} title="Send later" choose=${sendLater} close=${() => setLater(false)} />`}
    </div>
    ${sending.archives && html`<button type="button" class="button send-archive" aria-label="Send and archive"
      aria-keyshortcuts="Control+Shift+Enter Meta+Shift+Enter"
      title="Send and archive (Ctrl+Shift+Enter, ⌘+Shift+Enter)"
      onClick=${() => void sending.send(undefined, true)}><${Icon} name="archive" size=${16} /><span>Send and archive
      </span></button>`}
    <${AttachButton} send=${current.uploads.send} />
    <${SaveState} draft=${draft} />
    <button type="button" class="icon-button" aria-label="Delete the draft" title="Delete the draft"
      onClick=${() => void discard()}><${Icon} name="trash" /></button>
  </div>`;
}

/**
 * Runs once the editor has loaded: it takes the focus, unless a field has it.
 * @param {Composition} current
 * @param {EditorRef} editor
 */
function useReady(current, editor) {
  return (/** @type {import("./richtext.js").RichText | null} */ ready) => {
    editor.current = ready;
    if (!ready) return;
    current.draft.settle(ready.html());
    sign(current, ready);
    const { snippet } = current;
    current.snippet = null;
    if (snippet) putIn(current.draft, ready, snippet);
    const caret = current.caret ?? null;
    current.caret = null;
    const ours = editor.current?.root.closest("section")?.contains(document.activeElement) ?? false;
    if (!ours) return; // the person has moved on to something else meanwhile
    if (caret) ready.placeCaret(caret);
    else if (current.focus === "body" && !document.activeElement?.matches("input, select, textarea")) {
      ready.focusStart();
    }
  };
}

/**
 * Replaces the signature when the account changes, and inserts it later if it was not known yet.
 * @param {Composition} current
 * @param {EditorRef} editor
 */
function useSignature(current, editor) {
  useSignalEffect(() => {
    void signatureOf(current.draft.fields.value.accountId).value;
    if (editor.current) sign(current, editor.current);
  });
}

/**
 * @param {Composition} current
 * @param {import("./richtext.js").RichText} editor
 */
function sign(current, editor) {
  const signature = signatureOf(current.draft.fields.peek().accountId).peek();
  if (!current.unsigned || signature === null) return;
  current.unsigned = false;
  editor.setSignature(signature);
  current.draft.settle(editor.html());
}
