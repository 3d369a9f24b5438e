// @ts-check
/**
 * One row of the list: unread dot, sender, subject, snippet, labels, marks, time. It is redrawn only when it changes;
 * what it shows, only when that changes: a row that moves, or is selected, keeps it.
 *
 * In the grid its first cell is the link to the thread, which gets the focus; the other cells are its buttons, which
 * exist only while the mouse is over the row or the person has moved into them by keyboard.
 */
import { Component } from "preact";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { fullTime, listTime } from "../ui/format.js";
import { mailPath } from "./address.js";
import { accountMark } from "./marks.js";
import { recipientsOf, writersOf } from "./names.js";
import { RowActs } from "./row_acts.js";

const MAX_CHIPS = 3;
const COLOUR = /^#[0-9a-f]{6}$/i;
const SYSTEM_LABELS = new Set(["INBOX", "UNREAD", "STARRED", "IMPORTANT", "SENT", "DRAFT", "SPAM", "TRASH", "CHAT"]);

/**
 * @typedef {object} RowProps
 * @property {Thread} thread
 * @property {number} index within its section
 * @property {boolean} away not one of the rows in sight: it is not in their order, but at `top`
 * @property {number | null} top in pixels from the first row in sight; null if its place follows from their order
 * @property {boolean} selected
 * @property {boolean} reachable by Tab
 * @property {boolean} picked
 * @property {boolean} isBack whether it came back from a snooze and was not opened yet
 * @property {boolean} drafted whether it has a draft of an answer
 * @property {string | null} kind of mail, as triage has it, in words
 * @property {boolean} marked whether it shows which accounts hold it
 * @property {"sent" | "draft" | null} about what it shows: null: received mail; else what the person sent or drafted
 * @property {Set<string>} mine the person's own addresses
 * @property {string} href of the thread, for a tab of its own
 * @property {"mouse" | "keys" | null} acts why its buttons are shown
 * @property {string} day today, so that times are redrawn at midnight
 */

/** @typedef {Omit<RowProps, "index" | "away" | "top" | "selected" | "reachable" | "href" | "acts">} InsideProps */

/** @extends {Component<RowProps>} */
export class Row extends Component {
  /** @override @param {RowProps} next */
  shouldComponentUpdate(next) {
    return isOther(next, this.props);
  }

  /** @override @param {RowProps} props */
  render({ index, away, top, selected, reachable, href, acts, ...inside }) {
    const { thread, picked } = inside;
    return html`<div class="row-line" role="row" aria-rowindex=${index + 1} aria-selected=${picked ? "true" : "false"}>
      <div class="row-cell" role="gridcell"><a
      id=${`row-${thread.id}`}
      href=${href}
      draggable=${false}
      class=${`row${thread.unread ? " unread" : ""}${selected ? " selected" : ""}${picked ? " picked" : ""}${
        away ? " away" : ""}`}
      data-thread=${thread.id}
      tabindex=${reachable ? 0 : -1}
      style=${away ? { transform: `translateY(${top}px)` } : null}
    ><${Inside} ...${inside} /></a></div>
      ${acts && html`<${RowActs} thread=${thread} top=${top} picked=${picked} byKeys=${acts === "keys"} />`}
    </div>`;
  }
}

/** @extends {Component<InsideProps>} */
class Inside extends Component {
  /** @override @param {InsideProps} next */
  shouldComponentUpdate(next) {
    return isOther(next, this.props);
  }

  /** @override @param {InsideProps} props */
  render({ thread, picked, isBack, drafted, kind, marked, about }) {
    const own = about && thread[about];
    const time = listTime(own ? own.at : thread.lastMessageAt, Date.now());
    return html`<span class="row-pick">${picked && html`<${Icon} name="check" size=${14} />`}</span>
      <span class="row-dot">${thread.unread && html`<${Heard}>Unread, <//>`}</span>
      <span class="row-sender" title=${peopleOf(thread, own || null)}>
        <bdi>${own ? recipientsOf(own) : writersOf(thread)}</bdi><${Heard}>, <//>
        ${own?.by && html`<span class="row-by">by <bdi>${own.by}</bdi><${Heard}>, <//></span>`}
        ${thread.messageCount > 1 && html`<span class="row-count" aria-hidden="true">${thread.messageCount}</span>`}
      </span>
      <span class=${hasHit(thread) ? "row-text hit" : "row-text"}>
        <span class="row-subject">${drafted && html`<span class="row-draft">Draft<${Heard}>, <//></span> `}
          <bdi>${thread.subject || "(no subject)"}</bdi><${Heard}>, <//></span>
        <span class="row-rest">
          <span class="row-snippet" aria-hidden="true">
            <bdi>${own ? own.snippet : html`<${Snippet} thread=${thread} />`}</bdi></span>
          <span class="row-labels">
            ${isBack && html`<span class="chip back">Back from snooze<${Heard}>, <//></span>`}
            ${thread.snoozedUntil && html`<span class="row-until"
              title=${`Snoozed until ${fullTime(thread.snoozedUntil)}`}><${Heard}>snoozed until <//>
              <${Icon} name="clock" size=${15} /> ${listTime(thread.snoozedUntil, Date.now())}<${Heard}>, <//></span>`}
            ${thread.muted && html`<span class="row-clip" title="Muted"><${Heard}>muted, <//>
              <${Icon} name="mute" size=${16} /></span>`}
            ${kind && html`<span class="chip kind">${kind}<${Heard}>, <//></span>`}
            <${Chips} labels=${thread.labels} />
          </span>
        </span>
        ${thread.starred && html`<span class="row-star"><${Heard}>starred, <//>
          <${Icon} name="star" size=${16} /></span>`}
        ${thread.hasAttachments && html`<span class="row-clip"><${Heard}>with attachments, <//>
          <${Icon} name="clip" size=${16} /></span>`}
        ${marked && html`<${Holders} thread=${thread} />`}
      </span>
      <span class="row-time">${time}</span>`;
  }
}

/**
 * @template {object} Props
 * @param {Props} next
 * @param {Readonly<Partial<Props>>} before
 */
function isOther(next, before) {
  return /** @type {(keyof Props)[]} */ (Object.keys(next)).some((key) => next[key] !== before[key]);
}

/** @param {Thread} thread */
function hasHit({ match }) {
  return match?.snippet.some((piece) => piece.hit) ?? false;
}

/** The passage with the found words marked; else the beginning of the mail. @param {{ thread: Thread }} props */
function Snippet({ thread }) {
  const pieces = thread.match?.snippet;
  if (!pieces?.length) return thread.snippet;
  if (!hasHit(thread)) return pieces.map(({ text }) => text);
  return pieces.map((piece, index) => (piece.hit ? html`<mark key=${index}>${piece.text}</mark>` : index === 0
    ? leadIn(piece.text) : piece.text));
}

/** The text before the first hit, so short that the hit is visible in a narrow row. @param {string} text */
function leadIn(text) {
  const [end = ""] = /.{0,12}$/su.exec(text) ?? [];
  return end.length === text.length ? text : `…${end.slice(end.indexOf(" ") + 1)}`;
}

/**
 * The accounts that hold the thread; screen readers read it only if there are several.
 * @param {{ thread: Thread }} props
 */
function Holders({ thread }) {
  const ids = [thread.accountId, ...thread.twins.map((one) => one.accountId)];
  const marks = ids.map(accountMark);
  return html`<span class="row-holders" title=${marks.map((one) => one.address).join(", ")}>
    ${ids.length > 1 && html`<${Heard}>in ${marks.map((one) => one.address).join(" and ")}, <//>`}
    ${marks.map((one, index) => html`<span key=${ids[index]} class=${`holder holder-${one.tone}`} aria-hidden="true">
      ${one.letter}</span>`)}
  </span>`;
}

/** The labels a person gave. @param {Label[]} labels */
export function ownLabelsOf(labels) {
  return labels.filter((label) => !SYSTEM_LABELS.has(label.id) && !label.id.startsWith("CATEGORY_"));
}

/**
 * The labels in a row, as part of the row's name: a click on one lists its threads.
 * @param {{ labels: Label[], max?: number }} props
 */
export function Chips({ labels, max = MAX_CHIPS }) {
  const own = ownLabelsOf(labels);
  const more = own.length - max;
  return html`${own.slice(0, max).map(
    (label) => html`<span key=${label.id} class="chip label" data-label=${label.name} style=${chipStyle(label)}>
      <bdi>${label.name}</bdi><${Heard}>, <//>
    </span>`,
  )}${own.length > 1 && html`<span class="chip chip-more" aria-hidden="true"
    data-wide=${more > 0 ? `+${more}` : undefined} data-narrow=${`+${own.length - 1}`}></span>`}`;
}

/**
 * The labels above a thread: each is a link to its threads, and can be removed by people who may.
 * @param {{ labels: Label[], accountId: string | null, remove: ((name: string) => void) | null }} props
 */
export function ChipLinks({ labels, accountId, remove }) {
  return ownLabelsOf(labels).map(
    (label) => html`<span key=${label.id} class="chip label linked" style=${chipStyle(label)}>
      <a href=${mailPath(accountId, null, { kind: "label", name: label.name })}><bdi>${label.name}</bdi></a>
      ${remove && html`<button aria-label=${`Take the label ${label.name} away`} title="Take away"
        onClick=${() => remove(label.name)}><${Icon} name="close" size=${12} /></button>`}
    </span>`,
  );
}

/** @param {{ color?: string | null }} label */
export function chipStyle({ color }) {
  return COLOUR.test(color ?? "") ? { "--chip": color } : {};
}

/**
 * A word or a comma for screen readers: a row's name is its content, without what is hidden from them. It stays inline,
 * which is much cheaper than `.sr-only`, whose elements are laid out one by one.
 * @param {{ children: import("preact").ComponentChildren }} props
 */
function Heard({ children }) {
  return html`<span class="heard">${children}</span>`;
}

/** All people of the row, with full names. @param {Thread} thread @param {OwnMessage | null} own */
function peopleOf({ writers, sender }, own) {
  return (own ? own.to : writers?.length ? writers : [sender]).map(mailboxOf).join(", ");
}

/** The name and address of a person: the row may show a page's title instead of the name. @param {Person} person */
function mailboxOf({ name, address }) {
  return name ? `${name} <${address}>` : address;
}
