// @ts-check
/**
 * The compose window: docked at the foot of the page, the whole screen where there is little room. Not modal: the page
 * beside it can be read and clicked, only its keys rest.
 */
import { useSignalEffect } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { useUploads } from "../../files/uploads.js";
import { classes, html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { Attachments, AttachButton, useDrop } from "./attachments.js";
import { closeComposer, composition, discard, minimised, preparing } from "./composer.js";
import { Conflict, Notes, SaveState } from "./state.js";
import { Editor } from "./editor.js";
import { Findings } from "./findings.js";
import { From } from "./from.js";
import { LaterPanel } from "./later.js";
import { QuotedOriginal } from "./quote.js";
import { Recipients } from "./recipients.js";
import { signatureOf } from "./signature.js";
import { useSending } from "./sending.js";

/** The window, if a message is being written; stands beside every page. */
export function ComposeDock() {
  const current = composition.value;
  if (current) return html`<${Window} key=${current.draft.key} current=${current} />`;
  if (!preparing.value) return null;
  return html`<section class="compose waiting" aria-busy="true" aria-label="Message">
    <p class="compose-wait" role="status">Opening…</p></section>`;
}

/** @param {{ current: import("./composer.js").Composition }} props */
function Window({ current }) {
  const { draft } = current;
  const fields = draft.fields.value;
  const small = minimised.value;
  const frame = useRef(/** @type {HTMLElement | null} */ (null));
  const editor = useRef(/** @type {import("./richtext.js").RichText | null} */ (null));
  const [said, setSaid] = useState("");
  const [later, setLater] = useState(false);
  const { uploads, send: upload, cancel } = useUploads((file) => {
    const record = { fileId: file.id, filename: file.name, mime: file.mime, size: file.size };
    draft.write({ attachments: [...draft.fields.value.attachments, record] });
  });
  const { over, listeners } = useDrop(upload);
  const underWay = uploads.filter((one) => !one.problem).length;
  const sending = useSending(draft, underWay);
  const ready = useReady(current, editor);
  useSignature(current, editor);
  useLayoutEffect(() => {
    if (current.focus === "to") frame.current?.querySelector("input")?.focus();
    else frame.current?.focus(); // until the editor is there
  }, []);
  const close = () => {
    if (underWay) setSaid("Files are still on their way. Wait for them, or cancel them, before you close.");
    else void closeComposer();
  };
  // A button that takes itself away (a cancelled upload, a quote left out) must not take the keyboard with it.
  useLayoutEffect(() => {
    if (document.activeElement === document.body && !small) frame.current?.focus({ preventScroll: true });
  });
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void sending.send();
    } else if (event.key === "Escape") {
      event.preventDefault();
      close();
    }
  };
  const sendLater = (/** @type {string} */ sendAt) => {
    setLater(false);
    void sending.send(sendAt);
  };
  return html`<section
    class=${classes({ compose: true, minimised: small, over })} role="dialog" aria-modal="false"
      aria-labelledby="compose-title" tabindex="-1"
    ref=${frame} onKeyDown=${onKeyDown} ...${listeners}
  >
    <${Head} current=${current} small=${small} close=${close} />
    <div class="compose-body" hidden=${small}>
      <${Conflict} draft=${draft} reset=${(/** @type {string} */ text) => editor.current?.reset(text)} />
      <${Fields} draft=${draft} signatureWanted=${() => { current.unsigned = true; }} />
      <${Editor} start=${fields.html} label="Message text"
        changed=${(/** @type {string} */ text) => text !== draft.fields.value.html && draft.write({ html: text })}
        files=${upload} said=${setSaid} ready=${ready}>
        ${fields.quote && html`<${QuotedOriginal} quote=${fields.quote}
          remove=${() => draft.write({ quote: null })} />`}
      </${Editor}>
      <${Attachments} files=${fields.attachments} uploads=${uploads} cancel=${cancel}
        remove=${(/** @type {string} */ fileId) =>
          draft.write({ attachments: fields.attachments.filter((one) => one.fileId !== fileId) })} />
      <p class="compose-said fine" role="status">${said}</p>
      <${Findings} sending=${sending} />
      <${Notes} draft=${draft} />
      <div class="compose-foot">
        <div class="send-pair">
          <button type="button" class="button primary" aria-busy=${sending.busy}
            aria-keyshortcuts="Control+Enter Meta+Enter" title="Send (Ctrl+Enter, ⌘+Enter)"
              onClick=${() => void sending.send()}>Send</button>
          <button type="button" class="button primary send-later" aria-label="Send later" title="Send later"
            aria-haspopup="dialog" aria-expanded=${later ? "true" : "false"}
            onClick=${() => setLater(!later)}><${Icon} name="clock" size=${16} /></button>
          ${later && html`<${LaterPanel} title="Send later" choose=${sendLater} close=${() => setLater(false)} />`}
        </div>
        <${AttachButton} send=${upload} />
        <${SaveState} draft=${draft} />
        <button type="button" class="icon-button" aria-label="Delete the draft" title="Delete the draft"
          onClick=${() => void discard()}><${Icon} name="trash" /></button>
      </div>
    </div>
    ${over && html`<div class="compose-drop" aria-hidden="true">Drop the files here to attach them</div>`}
  </section>`;
}

/** @param {{ current: import("./composer.js").Composition, small: boolean, close: () => void }} props */
function Head({ current, small, close }) {
  const subject = current.draft.fields.value.subject;
  return html`<div class="compose-head">
    <h2 id="compose-title"><bdi>${(small && subject) || current.title}</bdi></h2>
    <button type="button" class="icon-button" aria-label=${small ? "Open the message again" : "Minimise"}
      title=${small ? "Open again" : "Minimise"} aria-expanded=${small ? "false" : "true"}
      onClick=${() => { minimised.value = !small; }}><${Icon} name=${small ? "up" : "minimise"} /></button>
    <button type="button" class="icon-button" aria-label="Close and keep the draft"
      title="Close and keep the draft (Esc)" onClick=${close}><${Icon} name="close" /></button>
  </div>`;
}

/** @param {{ draft: import("./draft.js").Draft, signatureWanted: () => void }} props */
function Fields({ draft, signatureWanted }) {
  const fields = draft.fields.value;
  const [copies, setCopies] = useState(false);
  const [blind, setBlind] = useState(false);
  const cc = copies || fields.cc.length > 0;
  const bcc = blind || fields.bcc.length > 0;
  const from = (/** @type {import("./from.js").Sender} */ sender) => {
    if (sender.accountId !== fields.accountId) signatureWanted();
    draft.write(sender);
  };
  return html`<div class="compose-fields">
    <${From} sender=${fields} change=${from} />
    <${Recipients} id="compose-to" label="To" people=${fields.to}
      change=${(/** @type {Person[]} */ to) => draft.write({ to })}>
      ${!cc && html`<button type="button" class="copies" onClick=${() => setCopies(true)}>Cc</button>`}
      ${!bcc && html`<button type="button" class="copies" onClick=${() => setBlind(true)}>Bcc</button>`}
    </${Recipients}>
    ${cc && html`<${Recipients} id="compose-cc" label="Cc" people=${fields.cc}
      change=${(/** @type {Person[]} */ people) => draft.write({ cc: people })} />`}
    ${bcc && html`<${Recipients} id="compose-bcc" label="Bcc" people=${fields.bcc}
      change=${(/** @type {Person[]} */ people) => draft.write({ bcc: people })} />`}
    <div class="compose-line">
      <label for="compose-subject">Subject</label>
      <input id="compose-subject" type="text" maxlength="900" dir="auto" value=${fields.subject}
        onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) =>
          draft.write({ subject: event.currentTarget.value })} />
    </div>
  </div>`;
}

/**
 * What happens once the editor is there: writing begins in it, unless a field has the focus.
 * @param {import("./composer.js").Composition} current
 * @param {{ current: import("./richtext.js").RichText | null }} editor
 */
function useReady(current, editor) {
  return (/** @type {import("./richtext.js").RichText | null} */ ready) => {
    editor.current = ready;
    if (!ready) return;
    current.draft.settle(ready.html());
    sign(current, ready);
    if (current.focus === "body" && !document.activeElement?.matches("input, select, textarea")) ready.focusStart();
  };
}

/**
 * The signature follows the account, and comes late when it was not known yet.
 * @param {import("./composer.js").Composition} current
 * @param {{ current: import("./richtext.js").RichText | null }} editor
 */
function useSignature(current, editor) {
  useSignalEffect(() => {
    void signatureOf(current.draft.fields.value.accountId).value;
    if (editor.current) sign(current, editor.current);
  });
}

/**
 * @param {import("./composer.js").Composition} current
 * @param {import("./richtext.js").RichText} editor
 */
function sign(current, editor) {
  const signature = signatureOf(current.draft.fields.peek().accountId).peek();
  if (!current.unsigned || signature === null) return;
  current.unsigned = false;
  editor.setSignature(signature);
  current.draft.settle(editor.html());
}
