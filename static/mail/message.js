// @ts-check
/** A message of a thread: a line while folded, a card with people, attachments and body when open. */
import { useState } from "preact/hooks";
import { now } from "../now.js";
import { Avatar } from "../ui/avatar.js";
import { fullTime, messageTime } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { Attachments, onceEach } from "./attachments.js";
import { continueDraft } from "./compose/compose.js";
import { MessageFrame } from "./frame.js";
import { ImageBar } from "./image_bar.js";
import { useRemoteImages } from "./images.js";
import { InvitationCard } from "./invitation.js";
import { MessageMenu } from "./message_menu.js";
import { listed, nameOf } from "./names.js";
import { OriginRow } from "./origin.js";
import { isPicture } from "../files/kinds.js";
import { Pictures } from "./pictures.js";
import { printMessage } from "./printing.js";
import { view } from "../files/viewer.js";
import { UnsubscribeBar, UnsubscribeButton } from "./unsubscribe.js";

/**
 * `by`: the person who sent it, in a shared account; `own`: whether the account is the person's own.
 * @param {{ message: Message, threadId: string, open: boolean, toggle: (() => void) | null, own: boolean,
 *   acts: boolean, by?: string | null }} props `acts`: whether the person may change anything
 */
export function MessageCard({ message, threadId, open, toggle, own, acts, by = null }) {
  return html`<article class=${`card${open ? "" : " folded"}`} tabindex="-1" data-message=${message.id}
    aria-label=${`Message from ${senderOf(message)}`}>
    ${open ? html`<${OpenCard} message=${message} threadId=${threadId} toggle=${toggle} own=${own} acts=${acts}
        by=${by} />`
      : html`<${CardHead} message=${message} open=${false} toggle=${toggle} by=${by} menu=${null} />`}
  </article>`;
}

/**
 * @param {{ message: Message, threadId: string, toggle: (() => void) | null, own: boolean, acts: boolean,
 *   by: string | null }} props
 */
function OpenCard({ message, threadId, toggle, own, acts, by }) {
  const [asText, setAsText] = useState(false);
  const [whole, setWhole] = useState(false);
  const remote = useRemoteImages(message);
  const text = whole ? message.text : ownText(message);
  const menu = html`<${MessageMenu} message=${message} threadId=${threadId} acts=${acts} asText=${asText}
    setAsText=${message.text.trim() ? setAsText : null}
    print=${() => printMessage(message, { images: remote.images, folded: !whole, text: asText ? text : null })} />`;
  return html`<${CardHead} message=${message} open=${true} toggle=${toggle} by=${by} menu=${menu} />
    <${CardBody} message=${message} own=${own} remote=${remote} text=${asText ? text : null} whole=${whole}
      setWhole=${setWhole} />`;
}

/**
 * @param {{ message: Message, open: boolean, toggle: (() => void) | null, by: string | null, menu: unknown }} props
 */
function CardHead({ message, open, toggle, by, menu }) {
  const [details, setDetails] = useState(false);
  const time = html`<time datetime=${message.sentAt} title=${fullTime(message.sentAt)}>
    ${messageTime(message.sentAt, now.value)}</time>`;
  if (!open) {
    return html`<button class="card-head" aria-expanded="false" onClick=${toggle}>
      <${Avatar} person=${message.from} />
      <span class="card-from"><bdi>${senderOf(message)}</bdi></span>
      ${isDraft(message) && html`<span class="card-draft">${DRAFT_WORDS}</span>`}
      <span class="card-excerpt"><bdi>${excerpt(message)}</bdi></span>
      ${message.attachments.length > 0 && html`<${Icon} name="clip" size=${15} />`}
      ${time}
    </button>`;
  }
  return html`<header class="card-head">
    <${Avatar} person=${message.from} />
    <div class="card-people">
      <div class="card-from">
        <bdi>${senderOf(message)}</bdi>
        ${message.from.name && html`<span class="card-address"><bdi>${message.from.address}</bdi></span>`}
        ${isDraft(message) && html` <span class="card-draft">${DRAFT_WORDS}</span>`}
        <${UnsubscribeButton} message=${message} />
        ${by && html` <span class="card-address">sent by <bdi>${by}</bdi></span>`}
      </div>
      <button class="card-to" aria-expanded=${details ? "true" : "false"} onClick=${() => setDetails(!details)}>
        <span><bdi>${recipients(message)}</bdi></span><${Icon} name="chevron" size=${12} />
      </button>
    </div>
    ${time}
    ${menu}
    ${toggle && html`<button class="icon-button card-fold" aria-expanded="true" aria-label="Fold this message"
      onClick=${toggle}>
      <${Icon} name="up" size=${16} />
    </button>`}
    ${details && html`<${Details} message=${message} />`}
  </header>`;
}

/** @param {{ message: Message }} props */
function Details({ message }) {
  const rows = /** @type {[string, string[]][]} */ ([
    ["From", [full(message.from)]],
    ["To", message.to.map(full)],
    ["Cc", message.cc.map(full)],
    ["Bcc", message.bcc.map(full)],
    ["Reply to", message.replyTo.map(full)],
    ["Date", [fullTime(message.sentAt)]],
    ["Subject", [message.subject || "(no subject)"]],
  ]);
  return html`<dl class="card-details">
    ${rows
      .filter(([, values]) => values.length)
      .map(
        ([name, values]) => html`<div key=${name}>
          <dt>${name}</dt>
          <dd>${values.map((value) => html`<bdi key=${value}>${value}</bdi>`)}</dd>
        </div>`,
      )}
    <${OriginRow} message=${message} />
  </dl>`;
}

/**
 * @param {{ message: Message, own: boolean, remote: ReturnType<typeof useRemoteImages>, text: string | null,
 *   whole: boolean, setWhole: (whole: boolean) => void }} props
 *   `text`: what is shown instead of its HTML
 */
function CardBody({ message, own, remote, text, whole, setWhole }) {
  const pictures = message.inline.filter(isPicture);
  const files = onceEach(message.attachments.filter((file) => !pictures.some((one) => one.fileId === file.fileId)));
  const parts = [...pictures, ...files];
  return html`<div class="card-body">
    ${own && isDraft(message) && html`<${ContinueBar} message=${message} />`}
    <${InvitationCard} message=${message} />
    ${message.warnings.length > 0 && html`<ul class="card-warnings" aria-label="Be careful">
      ${message.warnings.map((words) => html`<li key=${words}><${Icon} name="warning" size=${16} /> <bdi>${words}</bdi>
        </li>`)}
    </ul>`}
    <${UnsubscribeBar} message=${message} />
    <${ImageBar} message=${message} remote=${remote} />
    ${text !== null
      ? html`<pre class="card-text" dir="auto">${text}</pre>
          ${typeof message.foldedLine === "number" && html`<${Fold} whole=${whole} set=${setWhole} />`}`
      : html`<${MessageFrame} id=${message.id} body=${message.html} images=${remote.images}
          title=${`Message from ${senderOf(message)}`} folded=${message.folds && !whole}
          below=${message.folds && html`<${Fold} whole=${whole} set=${setWhole} />`} />`}
    <${Pictures} parts=${pictures} look=${(/** @type {InlinePart} */ part) => view(part, parts)} />
    <${Attachments} files=${files} look=${(/** @type {Attachment} */ part) => view(part, parts)}
      all=${`/mail/messages/${encodeURIComponent(message.id)}/attachments`} />
  </div>`;
}

/** The bar to continue another program's draft as one's own. @param {{ message: Message }} props */
function ContinueBar({ message }) {
  const [busy, setBusy] = useState(false);
  const go = async () => {
    setBusy(true);
    await continueDraft(message.id);
    setBusy(false);
  };
  return html`<p class="card-continue">
    <button type="button" class="button small primary" aria-busy=${busy} disabled=${busy} onClick=${() => void go()}>
      <${Icon} name="edit" size=${16} /> Continue writing</button>
  </p>`;
}

/**
 * The button that shows or hides the known end of a mail, its quotation and its signature, behind three dots. The
 * button is outside of the frame, in which no script runs.
 * @param {{ whole: boolean, set: (whole: boolean) => void }} props
 */
function Fold({ whole, set }) {
  const words = whole ? "Hide quoted text" : "Show quoted text";
  return html`<button class="card-known" aria-expanded=${whole ? "true" : "false"} aria-label=${words} title=${words}
    onClick=${() => set(!whole)}><span aria-hidden="true">•••</span></button>`;
}

const DRAFT_WORDS = "Draft, at your provider";

/**
 * Whether it is an unsent draft that another program wrote: it is in the drafts of the mailbox itself.
 * @param {Message} message
 */
function isDraft({ labels }) {
  return labels.some(({ id }) => id === "DRAFT");
}

/** The sender, "me" also for the account's other addresses. @param {Message} message */
function senderOf({ from, own }) {
  return own ? "me" : nameOf(from);
}

/** @param {Message} message */
function recipients(message) {
  const people = [...message.to, ...message.cc];
  return people.length ? `to ${listed(people.map(nameOf))}` : "to nobody named";
}

/** @param {Person} person */
function full({ name, address }) {
  return name ? `${name} <${address}>` : address;
}

/** The first words of the new text. @param {Message} message */
function excerpt(message) {
  const lines = ownText({ ...message, text: message.text.slice(0, 2_000) }).split("\n");
  return lines.filter((line) => line.trim() && !line.startsWith(">")).join(" ").slice(0, 200);
}

/** The text without the folded part. @param {Pick<Message, "text" | "foldedLine">} message */
function ownText({ text, foldedLine }) {
  if (typeof foldedLine !== "number") return text; // a copy kept for offline use may be older
  return text.split("\n").slice(0, foldedLine).join("\n").trimEnd();
}
