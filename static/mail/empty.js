// @ts-check
/** The placeholders for rows: while they load, and when there are none. */
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { number } from "../ui/format.js";
import { keysFor } from "../ui/key_words.js";
import { accountOf, accounts } from "./accounts.js";
import { EmptyInbox } from "./empty_inbox.js";
import { FILTER_NOTHING } from "./filters.js";
import { narrowTo } from "./moving.js";

/** index.html has as many. */
export const SKELETON_ROWS = 8;

/** @param {{ rows: number }} props */
export function Skeleton({ rows }) {
  return html`<div class="skeleton" aria-hidden="true">
    ${Array.from({ length: rows }, (_, index) => html`<div key=${index} class="row"><i></i><i></i><i></i></div>`)}
  </div>`;
}

/** @type {Record<string, { icon: string, title: string, text: string, key?: string }>} `key`: the command for it */
const NOTHING = {
  snoozed: { icon: "clock", title: "Nothing is snoozed", text: "Snooze a thread, and it comes back when you say.",
    key: "Mail h" },
  label: { icon: "label", title: "No thread has this label", text: "Give a thread one with Labels.", key: "Mail l" },
  triage: { icon: "filter", title: "No thread is of this kind",
    text: "Arriving mail gets a kind by itself; the keys 1 to 6 give a thread another one." },
  search: { icon: "search", title: "Nothing was found",
    text: "Fewer words find more. Spam and trash are searched with in:spam and in:trash." },
};

/** A last word of one letter: the search finds only that exact word. */
const ONE_LETTER = /(?:^|[\s:(-])\p{L}$/u;
const TYPE_ON = "One letter finds that word alone. From two on, subjects and people are found by how they begin; from "
  + "three on, texts are, too.";

/** @param {{ source: import("./sources.js").Source, accountId: string | null }} props */
export function Empty({ source, accountId }) {
  const { only } = source;
  if (only !== null) {
    const words = `Nothing here ${FILTER_NOTHING[only]}`;
    if (source.name === "skipped") return html`<p class="empty-line">${words}.</p>`;
    return html`<div class="empty">
      <${Icon} name="filter" size=${40} />
      <p class="empty-title">${words}</p>
      <p><button class="button small" onClick=${() => narrowTo(only)}>Show all</button></p>
    </div>`;
  }
  if (source.name === "skipped") {
    return html`<p class="empty-line">Nothing has skipped the inbox. Archived threads come here.</p>`;
  }
  const nothing = NOTHING[source.name];
  if (nothing) {
    return html`<div class="empty">
      <${Icon} name=${nothing.icon} size=${40} />
      <p class="empty-title">${nothing.title}</p>
      <p>${ONE_LETTER.test(source.all?.query ?? "") ? TYPE_ON : nothing.text}
        ${nothing.key && keysFor(nothing.key) && html` <kbd>${keysFor(nothing.key)}</kbd>`}</p>
    </div>`;
  }
  const reading = (accountId === null ? (accounts.value ?? []) : [accountOf(accountId)]).filter(
    (one) => one?.state === "backfilling",
  );
  if (reading.length) {
    const done = reading.reduce((sum, one) => sum + (one?.progress?.listing ? 0 : one?.progress?.done ?? 0), 0);
    return html`<div class="empty">
      <${Icon} name="inbox" size=${40} />
      <p class="empty-title">Reading your mail</p>
      <p>${done ? `${number(done)} messages so far. ` : ""}The newest come first and show up here by themselves.</p>
    </div>`;
  }
  return html`<${EmptyInbox} />`;
}
