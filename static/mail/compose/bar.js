// @ts-check
/**
 * The parts of writing on the mail page: the button, the drafts, mail in trouble, and the reply buttons below a thread.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { now } from "../../now.js";
import { troubled } from "../../tasks/outgoing.js";
import { ago, plural } from "../../ui/format.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { withKeys } from "../../ui/key_words.js";
import { accounts } from "../accounts.js";
import { listed } from "../names.js";
import { composeAnswer, composeBlank, openDraft } from "./composer.js";
import { inlineIn } from "./current.js";
import { drafts, loadDrafts } from "./drafts.js";

/**
 * The bar above the list. `drafts`: whether it has a link to them.
 * @param {{ accountId: string | null, drafts: boolean }} props
 */
export function ComposeBar({ accountId, drafts: leads }) {
  const able = accounts.value?.some((one) => one.access !== "read") ?? true;
  return html`<div class="compose-bar">
      ${able && html`<button class="button small primary" title=${withKeys("New message", "Mail c")}
        onClick=${() => composeBlank({ accountId })}><${Icon} name="edit" size=${16} /> Compose</button>`}
      ${leads && html`<${DraftsMenu} />`}
    </div>
    <${TroubleStrip} />`;
}

function DraftsMenu() {
  const [open, setOpen] = useState(false);
  const menu = useRef(/** @type {HTMLDivElement | null} */ (null));
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const count = drafts.value.length;
  useEffect(() => {
    if (!open) return undefined;
    void loadDrafts();
    menu.current?.querySelector("button")?.focus();
    const outside = (/** @type {Event} */ event) => {
      if (event.target instanceof Node && !menu.current?.parentElement?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, [open]);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape") {
      setOpen(false);
      button.current?.focus();
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") walk(event);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const choose = (/** @type {string} */ id) => {
    setOpen(false);
    button.current?.focus(); // the focus returns to it when writing ends
    void openDraft(id);
  };
  if (!count) return null;
  return html`<div class="drafts">
    <button class="button small" ref=${button} aria-expanded=${open ? "true" : "false"} aria-haspopup="true"
      onClick=${() => setOpen(!open)}>Drafts (${count})</button>
    ${open && html`<div class="drafts-menu" ref=${menu} role="group" aria-label="Drafts" onKeyDown=${onKeyDown}>
      ${drafts.value.map((one) => html`<button key=${one.id} class="drafts-row" onClick=${() => choose(one.id)}>
        <span class="drafts-to"><bdi>${one.to.length ? `To ${listed(one.to.map(shortName))}` : "To nobody yet"}</bdi>
          </span>
        <span class="drafts-time">${ago(one.updatedAt, now.value)}</span>
        <span class="drafts-text"><bdi>${one.subject || "(no subject)"}</bdi> <span class="quiet-text">
          <bdi>${one.snippet}</bdi></span></span>
        ${one.notes.map((words) => html`<span key=${words} class="drafts-note"><${Icon} name="warning" size=${14} />
          ${" "}<bdi>${words}</bdi></span>`)}
      </button>`)}
    </div>`}
  </div>`;
}

function TroubleStrip() {
  const rows = troubled.value;
  if (!rows.length) return null;
  const [first] = rows;
  const words = rows.length > 1 ? `${plural(rows.length, "message")} could not be sent or need your decision.`
    : TROUBLE[first?.state ?? "failed"];
  return html`<div class="strip warning" role="status">
    <${Icon} name="warning" size=${16} />
    <span>${words}${rows.length === 1 && first?.subject && html` <bdi>“${first.subject}”</bdi>`}</span>
    <a class="button small" href="/p/tasks">Look at ${rows.length === 1 ? "it" : "them"}</a>
  </div>`;
}

/** @type {Partial<Record<OutgoingState, string>>} */
const TROUBLE = {
  failed: "A message was not sent.",
  uncertain: "Nobody knows whether a message was sent.",
  overdue: "A message was due while the server was away, and waits for your decision.",
};

/** The bar below the messages of a thread, while none is being answered. @param {{ threadId: string }} props */
export function AnswerBar({ threadId }) {
  if (inlineIn(threadId)) return null;
  return html`<div class="answers" role="group" aria-label="Answer">
    <button class="button" title=${withKeys("Reply", "Mail r")} onClick=${() => void composeAnswer("reply", threadId)}>
      <${Icon} name="reply" size=${16} /> Reply</button>
    <button class="button" title=${withKeys("Reply to all", "Mail a")}
      onClick=${() => void composeAnswer("replyAll", threadId)}>
      <${Icon} name="replyAll" size=${16} /> Reply to all</button>
    <button class="button" title=${withKeys("Forward", "Mail f")}
      onClick=${() => void composeAnswer("forward", threadId)}>
      <${Icon} name="forward" size=${16} /> Forward</button>
  </div>`;
}

/** The name of a mailbox, or its address. @param {string} mailbox */
export function shortName(mailbox) {
  const name = mailbox.replace(/<[^<>]*>\s*$/u, "").trim().replace(/^"(.*)"$/u, "$1");
  return name || mailbox.replace(/[<>]/gu, "");
}

/** @param {KeyboardEvent} event */
function walk(event) {
  if (!(event.currentTarget instanceof HTMLElement)) return;
  const rows = [...event.currentTarget.querySelectorAll("button")];
  const at = rows.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement)) + (event.key === "ArrowDown" ? 1
    : -1);
  rows[(at + rows.length) % rows.length]?.focus();
}
