// @ts-check
/**
 * An answer under its message: the same editor as in the window, in a card of the thread.
 *
 * Only opening the card or its fields scrolls the page and takes the focus. When the person moves to something else by
 * keyboard or pointer, the thread's keys work again; nothing that arrives changes that.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { classes, html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { accounts } from "../accounts.js";
import { listed, nameOf } from "../names.js";
import { typeNow } from "./ahead.js";
import { discard } from "./composer.js";
import { inside } from "./current.js";
import { Fields } from "./fields.js";
import { fullScreen, popOut } from "./places.js";
import { Contested, Text, useWriting } from "./writing.js";

/** @typedef {import("./current.js").Composition} Composition */

/** @param {{ current: Composition, messageId: string }} props */
export function InlineAnswer({ current, messageId }) {
  const { draft } = current;
  const writing = useWriting(current);
  const { frame, over } = writing;
  const [people, setPeople] = useState(current.focus === "to");
  const [subject, setSubject] = useState(false);
  useKeyboard(current, frame);
  const opened = useRef(false);
  useLayoutEffect(() => {
    if (current.about) current.about.messageId = messageId; // it stays under this message, even if new ones arrive
  }, []);
  const ready = (/** @type {import("./richtext.js").RichText | null} */ editor) => {
    writing.ready(editor);
    if (editor && !opened.current) keepInSight(frame.current);
    if (editor) opened.current = true;
  };
  const grown = () => keepInSight(frame.current);
  const change = () => {
    grown();
    setPeople(true);
    setSubject(true);
    requestAnimationFrame(() => frame.current?.querySelector(/** @type {"input"} */ ("#compose-subject"))?.focus());
  };
  return html`<section class=${classes({ "answer-card": true, over })} aria-label=${`${current.title}, being written`}
    tabindex="-1" ref=${frame} onKeyDown=${writing.onKeyDown} ...${writing.listeners}>
    <${Contested} writing=${writing} />
    <div class="answer-head">
      <${Line} current=${current} open=${people} toggle=${() => { setPeople(!people); grown(); }} />
      <${Menu} change=${change} />
    </div>
    ${people && html`<${Fields} draft=${draft} subject=${subject} grown=${grown}
      signatureWanted=${() => { current.unsigned = true; }} />`}
    <${Text} writing=${{ ...writing, ready }} />
    ${over && html`<div class="compose-drop" aria-hidden="true">Drop the files here to attach them</div>`}
  </section>`;
}

/**
 * The recipients and the sender, in one line that opens.
 * @param {{ current: Composition, open: boolean, toggle: () => void }} props
 */
function Line({ current, open, toggle }) {
  const { to, cc, bcc, accountId, fromAddress, quote } = current.draft.fields.value;
  const account = accounts.value?.find((one) => one.id === accountId);
  const many = (accounts.value?.length ?? 0) > 1;
  const lists = [["To", to], ["Cc", cc], ["Bcc", bcc]].flatMap(([label, people]) => people?.length
    ? [`${label} ${listed(/** @type {Person[]} */ (people).map(nameOf))}`] : []);
  return html`<button type="button" class="answer-people" aria-expanded=${open ? "true" : "false"} onClick=${toggle}
    title="Change the recipients">
    <${Icon} name=${quote?.kind === "forward" ? "forward" : cc.length ? "replyAll" : "reply"} size=${16} />
    <span class="answer-names"><bdi>${lists.join(", ") || "To nobody yet"}</bdi></span>
    ${many && account && html`<span class="answer-from">from <bdi>${fromAddress ?? account.address}</bdi></span>`}
    <${Icon} name="chevron" size=${12} />
  </button>`;
}

/** @param {{ change: () => void }} props */
function Menu({ change }) {
  const [open, setOpen] = useState(false);
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => {
    if (!open) return undefined;
    box.current?.querySelector("button")?.focus();
    const outside = (/** @type {Event} */ event) => {
      if (event.target instanceof Node && !box.current?.parentElement?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.key === "Escape") {
      setOpen(false);
      button.current?.focus();
    } else if (step) {
      const all = [...(box.current?.querySelectorAll("button") ?? [])];
      const at = all.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement));
      all[(at + step + all.length) % all.length]?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const item = (/** @type {string} */ label, /** @type {() => void} */ run, keys = "") => html`<button type="button"
    class="answer-item" onClick=${() => { setOpen(false); run(); }}><span>${label}</span>
    ${keys && html`<kbd>${keys}</kbd>`}</button>`;
  return html`<div class="answer-menu">
    <button type="button" class="icon-button" ref=${button} aria-label="More for this answer" title="More"
      aria-haspopup="true" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>
      <${Icon} name="answer-more" /></button>
    ${open && html`<div class="answer-items" ref=${box} role="group" aria-label="For this answer"
      onKeyDown=${onKeyDown}>
      ${item("Change the subject", change)}
      ${item("Write in the window", popOut, "Ctrl+Shift+P")}
      ${item("Write on the full screen", fullScreen)}
      ${item("Delete the draft", () => void discard())}
    </div>`}
  </div>`;
}

/**
 * Tracks whether the focus is in the card. When the focused element disappears (a cancelled upload), the focus still
 * counts as inside; only the person's own move to something else counts as leaving.
 * @param {Composition} current
 * @param {{ current: HTMLElement | null }} frame
 */
function useKeyboard(current, frame) {
  useLayoutEffect(() => {
    const follow = (/** @type {Event} */ event) => {
      if (event.target instanceof Node && frame.current) inside.value = frame.current.contains(event.target);
    };
    if (current.entering || inside.value) {
      const first = current.focus === "to" && !current.caret ? "input" : ".rich-text";
      frame.current?.querySelector(/** @type {"input"} */ (first))?.focus({ preventScroll: true });
      typeNow();
      inside.value = true;
    }
    current.entering = false;
    document.addEventListener("focusin", follow);
    document.addEventListener("pointerdown", follow);
    return () => {
      document.removeEventListener("focusin", follow);
      document.removeEventListener("pointerdown", follow);
    };
  }, []);
  useLayoutEffect(() => {
    if (inside.value && document.activeElement === document.body) frame.current?.focus({ preventScroll: true });
  });
}

/**
 * Scrolls the card into view once it has its height, only as far as needed, and not again: its bar to send covers what
 * would lie at the edge of the window.
 * @param {HTMLElement | null} card
 */
function keepInSight(card) {
  requestAnimationFrame(() => requestAnimationFrame(() => card?.scrollIntoView({ block: "nearest" })));
}
