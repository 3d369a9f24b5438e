// @ts-check
/** What people did to a thread in an account that is shared. */
import { now } from "../now.js";
import { ago, fullTime } from "../ui/format.js";
import { html } from "../ui/html.js";

/** @typedef {NonNullable<ThreadDetail["acts"]>[number]} Act */

/** @type {Record<string, string>} */
const WORDS = {
  archive: "archived this",
  unarchive: "moved this to the inbox",
  markUnread: "marked this as unread",
  labels: "changed its labels",
  trash: "moved this to the trash",
  spam: "reported this as spam",
  snooze: "snoozed this",
  unsnooze: "brought this back",
  mute: "muted this",
  unmute: "hears of this again",
};
const SHOWN = 10;

/** The newest of them, oldest first. A sent message shows its sender itself. @param {{ acts: readonly Act[] }} props */
export function Acts({ acts }) {
  const shown = acts.filter(({ messageId }) => messageId === null).slice(-SHOWN);
  if (!shown.length) return null;
  return html`<ul class="thread-acts" aria-label="Who did what">
    ${shown.map((act, index) => html`<li key=${index}><bdi>${act.by}</bdi> ${WORDS[act.what] ?? "changed this"}, ${" "}
      <time datetime=${act.at} title=${fullTime(act.at)}>${ago(act.at, now.value)}</time></li>`)}
  </ul>`;
}

/** The person who sent a message, if that was recorded. @param {readonly Act[]} acts @param {string} messageId */
export function sentBy(acts, messageId) {
  return acts.find((act) => act.messageId === messageId)?.by ?? null;
}
