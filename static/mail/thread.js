// @ts-check
/** The open thread: toolbar, subject, filing line, message cards, a proposed reply if there is one. */
import { Fragment } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { messageTime, plural } from "../ui/format.js";
import { classes, html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { withKeys } from "../ui/key_words.js";
import { MenuButton, MenuItem } from "../ui/menu.js";
import { usePainted } from "../ui/painted.js";
import { accountOf, accounts, mayAct } from "./accounts.js";
import { Acts, sentBy } from "./acts.js";
import { mailPath } from "./address.js";
import { label, mute } from "./actions.js";
import { AnswerBar, AnswerSlot } from "./compose/compose.js";
import { opened, show } from "./details.js";
import { knownThread } from "./lists.js";
import { currentAccountId, seeksFiles } from "./moving.js";
import { MessageCard } from "./message.js";
import { ProposedReply } from "./proposed.js";
import { ChipLinks } from "./row.js";
import { KindMark } from "./triage.js";
import { SuggestedRule } from "../rules/suggestions.js";
import { WhyHere } from "./why.js";
import { AskButton } from "../runs/ask.js";

/** More messages than this are folded in the middle. */
const MAX_UNFOLDED = 6;

/**
 * @typedef {object} ThreadCommands
 * @property {() => void} back
 * @property {(thread: Thread) => void} archive
 * @property {(thread: Thread) => void} toInbox
 * @property {(thread: Thread) => void} markUnread
 * @property {(thread: Thread) => void} star
 * @property {(thread: Thread) => void} trash
 * @property {(thread: Thread) => void} spam
 * @property {(thread: Thread) => void} mute
 * @property {(kind: "label" | "snooze", thread: Thread) => void} pick
 * @property {(step: 1 | -1) => void} move
 */

/** @param {{ id: string, commands: ThreadCommands }} props */
export function ThreadPane({ id, commands }) {
  const current = opened.value?.id === id ? opened.value : null;
  const thread = current?.gone ? null : current?.detail?.thread ?? knownThread(id);
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useLayoutEffect(() => heading.current?.focus({ preventScroll: true }), [id]);
  return html`<section class="thread" aria-label="Thread">
    <${Toolbar} thread=${thread} commands=${commands} />
    <div class="thread-scroll" key=${id}>
      <div class="thread-column">
        <h1 class="thread-subject" tabindex="-1" ref=${heading}>
          <bdi>${thread ? thread.subject || "(no subject)" : current?.gone ? "This thread is gone" : "…"}</bdi>
        </h1>
        ${current?.gone
          ? html`<p class="thread-note">It was deleted, or is not yours to see. <button class="link"
            onClick=${commands.back}>Back to the list</button></p>`
          : html`<${ThreadMeta} thread=${thread} filing=${current?.detail?.filing ?? null} />`}
        ${thread && !thread.hidden && accountOf(thread.accountId)?.access === "own"
          && html`<${SuggestedRule} key=${thread.id} threadId=${thread.id} />`}
        <${ThreadBody} current=${current} />
        ${current?.detail && !current.gone && html`<${Acts} acts=${current.detail.acts ?? []} />`}
        ${current?.detail && !current.gone && mayAct(current.detail.thread.accountId)
          && html`<${AnswerBar} threadId=${id} />`}
      </div>
    </div>
  </section>`;
}

/**
 * On a phone there is room for the back button, the two most frequent actions, and a menu with the others.
 * @param {{ thread: Thread | null, commands: ThreadCommands }} props
 */
function Toolbar({ thread: shown, commands }) {
  const thread = shown && mayAct(shown.accountId) ? shown : null;
  const others = thread ? othersFor(thread, commands) : [];
  return html`<div class="thread-toolbar" role="toolbar" aria-label="Thread">
    <button class="tool" onClick=${commands.back} title=${withKeys("Back to the list", "Mail u")}>
      <${Icon} name="back" /><span>Back</span></button>
    <span class="tool-gap"></span>
    ${thread?.inInbox && html`<button class="tool" onClick=${() => commands.archive(thread)}
      title=${withKeys("Archive", "Mail e")}>
      <${Icon} name="archive" /><span>Archive</span>
    </button>`}
    ${thread && !thread.inInbox && html`<button class="tool" onClick=${() => commands.toInbox(thread)}
      title=${withKeys("Move to the inbox", "Mail i")}>
      <${Icon} name="inbox" /><span>Move to inbox</span>
    </button>`}
    ${thread && html`<button class="tool icon-only" aria-label="Snooze" title=${withKeys("Snooze", "Mail h")}
      onClick=${() => commands.pick("snooze", thread)}><${Icon} name="clock" /></button>`}
    ${others.map((one) => html`<button key=${one.icon} class=${classes({ tool: true, "icon-only": !one.word,
      "wide-only": true, starred: one.icon === "star" && one.pressed === true })}
      aria-label=${one.word ? undefined : one.label} aria-pressed=${one.pressed} title=${withKeys(one.title, one.keys)}
      onClick=${one.run}><${Icon} name=${one.icon} />${one.word && html`<span>${one.word}</span>`}</button>`)}
    <span class="tool-gap"></span>
    <button class="tool icon-only wide-only" aria-label="Newer thread" title=${withKeys("Newer", "Mail k")}
      onClick=${() => commands.move(-1)}><${Icon} name="up" /></button>
    <button class="tool icon-only wide-only" aria-label="Older thread" title=${withKeys("Older", "Mail j")}
      onClick=${() => commands.move(1)}><${Icon} name="down" /></button>
    <span class="narrow-only"><${MenuButton} id="thread-menu" class="tool icon-only" icon="answer-more" size=${20}
        label="More for this thread" title="More" about="This thread">
      ${others.map((one) => html`<${MenuItem} key=${one.icon} icon=${one.icon} words=${one.title} act=${one.run} />`)}
      ${others.length > 0 && html`<hr />`}
      <${MenuItem} icon="up" words="Newer thread" act=${() => commands.move(-1)} />
      <${MenuItem} icon="down" words="Older thread" act=${() => commands.move(1)} />
    <//></span>
  </div>`;
}

/**
 * The other actions on a thread, in the order of the toolbar. `label` names a button that shows its own state, `title`
 * says what pressing it does.
 * @param {Thread} thread
 * @param {ThreadCommands} commands
 * @returns {{ icon: string, label: string, title: string, keys: string, run: () => void, word?: string,
 *   pressed?: boolean }[]}
 */
function othersFor(thread, commands) {
  const spam = isSpam(thread) ? "Not spam" : "Report as spam";
  return [
    { icon: "unread", label: "Mark unread", word: "Mark unread", title: "Mark as unread, and go back", keys: "Mail U",
      run: () => commands.markUnread(thread) },
    { icon: "star", label: "Star", title: thread.starred ? "Take the star away" : "Star", keys: "Mail s",
      pressed: thread.starred, run: () => commands.star(thread) },
    { icon: "label", label: "Labels", title: "Labels", keys: "Mail l", run: () => commands.pick("label", thread) },
    { icon: "mute", label: "Mute", title: thread.muted ? "Unmute" : "Mute", keys: "Mail m", pressed: thread.muted,
      run: () => commands.mute(thread) },
    { icon: "spam", label: spam, title: spam, keys: "Mail !", run: () => commands.spam(thread) },
    { icon: "trash", label: "Delete", title: "Delete", keys: "Mail #", run: () => commands.trash(thread) },
  ];
}

/** @param {{ thread: Thread | null, filing: ThreadDetail["filing"] }} props */
function ThreadMeta({ thread, filing }) {
  const account = accountOf(thread?.accountId ?? null);
  return html`<div class="thread-meta">
    ${filing && html`<a class="filing" href=${`/p/${filing.path.replace(/^\/+/, "")}`}>
      <${Icon} name="page" size=${15} /> Filed under <bdi>${filing.title}</bdi></a>`}
    ${thread && html`<${ChipLinks} labels=${thread.labels} accountId=${currentAccountId()}
      remove=${mayAct(thread.accountId) ? (/** @type {string} */ name) => void label([thread], name, false) : null} />`}
    ${thread && whereabouts(thread) && html`<span class="chip quiet">${whereabouts(thread)}</span>`}
    ${thread && !thread.hidden && account?.access === "own" && html`<${KindMark} threadId=${thread.id} />`}
    ${thread && !thread.hidden && html`<${WhyHere} key=${thread.id} threadId=${thread.id}
      own=${account?.access === "own"} />`}
    ${thread && !thread.hidden && html`<${AskButton} about=${thread.subject || "(no subject)"}
      input=${{ threadId: thread.id }} class="link why-ask" />`}
    ${thread?.muted && html`<button class="thread-muted" aria-label="Unmute"
      title=${withKeys("New messages skip the inbox. Unmute", "Mail m")} onClick=${() => void mute([thread], false)}>
        <${Icon} name="mute" size=${14} /> Muted <${Icon} name="close" size=${12} /></button>`}
    ${account && (accounts.value?.length ?? 0) > 1 && html`<span class="thread-account">in ${account.address}</span>`}
    ${account?.owner && html`<span class="chip quiet">Shared by <bdi>${account.owner}</bdi>${account.access === "read"
      && ", to read"}</span>`}
    ${thread && thread.twins.length > 0
      && html`<span class="thread-account">
        Also in ${thread.twins.map(({ accountId, threadId }, index) =>
          html`${index > 0 && ", "}<a key=${threadId} href=${mailPath(accountId, threadId)}>
            ${accountOf(accountId)?.address ?? "another account"}</a>`)}</span>`}
  </div>`;
}

/** The place of a thread that is not in the inbox. @param {Thread} thread */
function whereabouts(thread) {
  if (thread.snoozedUntil) return `Snoozed until ${messageTime(thread.snoozedUntil, Date.now())}`;
  const away = thread.labels.find(({ id }) => id === "SPAM" || id === "TRASH");
  if (thread.hidden && away) return away.id === "SPAM" ? "Spam" : "In the trash";
  return thread.inInbox ? "" : "Skipped the inbox";
}

/** @param {Thread} thread */
function isSpam(thread) {
  return thread.labels.some(({ id }) => id === "SPAM");
}

/** @param {{ current: import("./details.js").Opened | null }} props */
function ThreadBody({ current }) {
  const painted = usePainted(current?.id ?? ""); // to create the messages' frames takes longer than a key should wait
  if (current?.gone) return null;
  if (current?.problem && !current.detail) {
    return html`<div class="failed" role="alert">
      <span>Could not open this thread: ${current.problem}</span>
      <button class="button small" onClick=${() => void show(current.id)}>Try again</button>
    </div>`;
  }
  if (!current?.detail || !painted) return html`<div class="card-skeleton" aria-label="Loading"><i></i><i></i><i></i>
    <i></i></div>`;
  return html`<${Messages} key=${current.id} detail=${current.detail} />`;
}

/** @param {{ detail: ThreadDetail }} props */
function Messages({ detail }) {
  const { messages, proposedReply } = detail;
  const [open, setOpen] = useState(() => new Set(openAtFirst(messages, seeksFiles())));
  const [middle, setMiddle] = useState(false);
  const newest = messages.at(-1)?.id;
  const own = accountOf(detail.thread.accountId)?.access === "own";
  const acts = mayAct(detail.thread.accountId);
  useEffect(() => {
    if (newest !== undefined && !open.has(newest)) setOpen(new Set(open).add(newest)); // a new one
  }, [newest]);
  const hidden = middle ? [] : foldable(messages, open);
  const toggle = (/** @type {string} */ id) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  return html`<div class="cards">
    ${messages.map((message) => {
      if (message === hidden[0]) {
        return html`<button key="folded" class="cards-folded" onClick=${() => setMiddle(true)}>
          <span>${plural(hidden.length, "older message")}</span>
        </button>`;
      }
      if (hidden.includes(message)) return null;
      const only = messages.length === 1;
      return html`<${Fragment} key=${message.id}>
        <${MessageCard} message=${message} threadId=${detail.thread.id} open=${open.has(message.id)} own=${own}
          acts=${acts}
          by=${sentBy(detail.acts ?? [], message.id)} toggle=${only ? null : () => toggle(message.id)} />
        <${AnswerSlot} threadId=${detail.thread.id} messageId=${message.id} last=${message.id === newest} />
      <//>`;
    })}
    <${ProposedReply} reply=${proposedReply} threadId=${detail.thread.id} acts=${acts} />
  </div>`;
}

/**
 * The newest message, and the unread ones; the newest ones with files if those are what the person looks for.
 * @param {Message[]} messages
 * @param {boolean} forFiles
 */
function openAtFirst(messages, forFiles) {
  const unread = messages.filter((message) => message.labels.some((label) => label.id === "UNREAD"));
  const files = forFiles ? messages.filter((message) => message.attachments.length > 0).slice(-MAX_UNFOLDED) : [];
  return [...unread, ...files, ...messages.slice(-1)].map((message) => message.id);
}

/**
 * The folded messages of a long thread between the first and the last two.
 * @param {Message[]} messages
 * @param {Set<string>} open
 */
function foldable(messages, open) {
  if (messages.length <= MAX_UNFOLDED) return [];
  const inner = messages.slice(1, -2);
  const until = inner.findIndex((message) => open.has(message.id));
  const run = until < 0 ? inner : inner.slice(0, until);
  return run.length > 1 ? run : [];
}
