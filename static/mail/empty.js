// @ts-check
/** What stands where rows would be: while they load, and when there are none. */
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { number } from "../ui/format.js";
import { accountOf, accounts } from "./accounts.js";

/** @param {{ rows: number }} props */
export function Skeleton({ rows }) {
  return html`<div class="skeleton" aria-hidden="true">
    ${Array.from({ length: rows }, (_, index) => html`<div key=${index} class="row"><i></i><i></i><i></i></div>`)}
  </div>`;
}

/** @param {{ section: Section, accountId: string | null }} props */
export function Empty({ section, accountId }) {
  if (section === "skipped") {
    return html`<p class="empty-line">Nothing has skipped the inbox. Archived threads come here.</p>`;
  }
  const reading = (accountId === null ? (accounts.value ?? []) : [accountOf(accountId)]).filter(
    (one) => one?.state === "backfilling",
  );
  if (reading.length) {
    const done = reading.reduce((sum, one) => sum + (one?.progress?.done ?? 0), 0);
    return html`<div class="empty">
      <${Icon} name="inbox" size=${40} />
      <p class="empty-title">Reading your mail</p>
      <p>${done ? `${number(done)} messages so far. ` : ""}The newest come first and show up here by themselves.</p>
    </div>`;
  }
  return html`<div class="empty">
    <${Icon} name="check" size=${40} />
    <p class="empty-title">Inbox zero</p>
    <p>Everything here is dealt with. New mail shows up by itself.</p>
  </div>`;
}
