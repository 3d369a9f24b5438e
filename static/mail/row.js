// @ts-check
/** One row of the list: unread dot, sender, subject, snippet, labels, attachment mark, time. Draws only when it changed. */
import { Component } from "preact";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { listTime } from "../ui/format.js";

const MAX_CHIPS = 3;
const COLOUR = /^#[0-9a-f]{6}$/i;
const SYSTEM_LABELS = new Set(["INBOX", "UNREAD", "STARRED", "IMPORTANT", "SENT", "DRAFT", "SPAM", "TRASH", "CHAT"]);

/**
 * @typedef {object} RowProps
 * @property {Thread} thread
 * @property {number} index within its section
 * @property {number} top in pixels within its section
 * @property {number} size of the section, -1 while that is not known
 * @property {boolean} selected
 * @property {boolean} reachable by Tab
 * @property {string} day today, so that times are drawn anew at midnight
 */

/** @extends {Component<RowProps>} */
export class Row extends Component {
  /** @override @param {RowProps} next */
  shouldComponentUpdate(next) {
    const before = this.props;
    return /** @type {(keyof RowProps)[]} */ (Object.keys(next)).some((key) => next[key] !== before[key]);
  }

  /** @override @param {RowProps} props */
  render({ thread, index, top, size, selected, reachable }) {
    const time = listTime(thread.lastMessageAt, Date.now());
    return html`<div
      id=${`row-${thread.id}`}
      class=${`row${thread.unread ? " unread" : ""}${selected ? " selected" : ""}`}
      role="option"
      data-thread=${thread.id}
      tabindex=${reachable ? 0 : -1}
      aria-selected=${selected ? "true" : "false"}
      aria-posinset=${index + 1}
      aria-setsize=${size}
      style=${{ transform: `translateY(${top}px)` }}
    >
      <span class="row-dot">${thread.unread && html`<span class="sr-only">Unread, </span>`}</span>
      <span class="row-sender">
        <bdi>${senderOf(thread)}</bdi><${Pause} />
        ${thread.messageCount > 1 && html`<span class="row-count" aria-hidden="true">${thread.messageCount}</span>`}
      </span>
      <span class="row-text">
        <span class="row-subject"><bdi>${thread.subject || "(no subject)"}</bdi><${Pause} /></span>
        <span class="row-snippet" aria-hidden="true"><bdi>${thread.snippet}</bdi></span>
      </span>
      <span class="row-marks">
        <${Chips} labels=${thread.labels} />
        ${thread.hasAttachments && html`<span class="sr-only">with attachments, </span><${Icon} name="clip" size=${16} />`}
      </span>
      <span class="row-time">${time}</span>
    </div>`;
  }
}

/** The labels a person gave. @param {{ labels: Label[], max?: number }} props */
export function Chips({ labels, max = MAX_CHIPS }) {
  const own = labels.filter((label) => !SYSTEM_LABELS.has(label.id) && !label.id.startsWith("CATEGORY_"));
  const more = own.length - max;
  return html`${own.slice(0, max).map(
    (label) => html`<span key=${label.id} class="chip" style=${COLOUR.test(label.color ?? "") ? { "--chip": label.color } : {}}>
      <bdi>${label.name}</bdi><${Pause} />
    </span>`,
  )}${more > 0 && html`<span class="chip" aria-hidden="true">+${more}</span>`}`;
}

/** A comma for those who listen: a row's name is its content, less what is hidden from them. */
function Pause() {
  return html`<span class="pause">, </span>`;
}

/** @param {Thread} thread */
export function senderOf({ sender }) {
  return sender.title || sender.name || sender.address || "(unknown sender)";
}
