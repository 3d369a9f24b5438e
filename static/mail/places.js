// @ts-check
/** The places of mail in the navigation: the lists that everybody has, then the labels and the accounts. */
import { useEffect, useRef } from "preact/hooks";
import { closeDrawer, drawerOpen } from "../frame.js";
import { navigate } from "../router.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { number, plural } from "../ui/format.js";
import { scheduledCount } from "../tasks/count.js";
import { accountOf, accounts, unifiedUnread } from "./accounts.js";
import { mailPath, mailPlace, parseMailAddress } from "./address.js";
import { CutAddress } from "./address_cut.js";
import { connectOpen } from "./connect.js";
import { draftsCount } from "./drafts_list.js";
import { labels, labelsProblem, loadLabels, ownLabels, wantLabels } from "./labels.js";
import { chipStyle } from "./row.js";

/** The characters of an address that a row shows at least. */
const ROOM = 14;

/** @typedef {import("./address.js").View} View */
/** @typedef {import("../feature.js").Nav} Nav */

/** @type {Nav[]} */
export const PLACES = [
  { ...to("Inbox", "inbox", { kind: "sections" }), keys: "Mail g i", bar: "Mail", count: unreadHere },
  { ...to("Starred", "star", { kind: "label", name: "Starred" }), keys: "Mail g s", also: ["flagged"] },
  { ...to("Snoozed", "clock", { kind: "snoozed" }), keys: "Mail g z", also: ["later", "reminders"] },
  { ...to("Drafts", "edit", { kind: "drafts" }), keys: "Mail g d", count: draftsCount },
  { at: "places", icon: "later", title: "Scheduled", also: ["send later", "outbox"],
    href: () => "/p/tasks?only=scheduled", count: scheduledCount,
    here: ({ pathname, searchParams }) => pathname === "/p/tasks" && searchParams.get("only") === "scheduled" },
  { ...to("Sent", "forward", { kind: "label", name: "Sent" }), keys: "Mail g t" },
  { ...to("All mail", "all", { kind: "all" }), keys: "Mail g a", also: ["archive", "everything"] },
  { ...to("Spam", "spam", { kind: "label", name: "Spam" }), also: ["junk"] },
  { ...to("Trash", "trash", { kind: "label", name: "Trash" }), also: ["delete", "deleted", "bin"] },
];

/** The labels that people created, of the shown account, or of all. */
export function LabelsPanel() {
  // Another account has its own labels, which arrive with its first mail.
  const reading = (accounts.value ?? []).map(({ id, state }) => `${id} ${state}`).join();
  const known = useRef(reading);
  useEffect(() => void (known.current === reading ? wantLabels() : loadLabels()), [reading]);
  const at = mailPlace.value;
  const accountId = at?.accountId ?? null;
  const own = ownLabels(accountId);
  return html`<div class="side-group" role="group" aria-labelledby="side-labels">
    <p class="side-title" id="side-labels">Labels</p>
    ${own.length > 0 && html`<ul class="side-list">${own.map((one) => html`<li key=${one.name}>
      <a class="side-row" href=${mailPath(accountId, null, { kind: "label", name: one.name })}
        aria-current=${at && isView(at.view, { kind: "label", name: one.name }) ? "page" : undefined}>
        <i class="label-dot" style=${chipStyle(one)}></i>
        <span class="side-word" title=${one.name}><bdi>${one.name}</bdi></span></a>
    </li>`)}</ul>`}
    ${labels.value !== null && !own.length && html`<p class="side-note">No labels yet: press l on a thread.</p>`}
    ${labelsProblem.value && html`<p class="side-note form-problem" role="alert">Could not load the
      labels: ${labelsProblem.value}</p>`}
  </div>`;
}

/** The states in which nothing comes or goes. @type {Record<string, string>} */
const APART = { reconnect: "needs to be connected again", disconnected: "disconnected" };

/** All accounts, none hidden, and the button to connect another. */
export function AccountsPanel() {
  const at = mailPlace.value;
  const known = accounts.value ?? [];
  return html`<div class="side-group" role="group" aria-labelledby="side-accounts">
    <p class="side-title" id="side-accounts">Accounts</p>
    <ul class="side-list">${known.map(({ id, address, unread, state }) => html`<li key=${id}>
      <a class="side-row" href=${mailPath(id)} aria-current=${at?.accountId === id ? "true" : undefined}>
        <span class="sr-only">${[address, unread > 0 && plural(unread, "unread thread"), APART[state]].filter(Boolean)
          .join(", ")}</span>
        <span class=${`sync-dot account-dot${APART[state] ? " bad" : ""}`}></span>
        <span class="side-word" title=${address} aria-hidden="true"><bdi><${CutAddress} address=${address}
          others=${known.map((one) => one.address)} room=${ROOM} /></bdi></span>
        ${unread > 0 && html`<b class="side-count" data-n=${number(unread)} aria-hidden="true"></b>`}</a>
    </li>`)}
    <li><button class="side-row" onClick=${connect}>
      <${Icon} name="plus" /><span class="side-word">Connect ${known.length ? "another" : "an"} account</span>
      </button></li></ul>
  </div>`;
}

/** Goes to the mail page, which has the dialog. */
function connect() {
  if (!mailPlace.value) navigate(mailPath(null), { replace: drawerOpen.value });
  closeDrawer();
  connectOpen.value = true;
}

/** @param {string} title @param {string} icon @param {View} view @returns {Nav} */
function to(title, icon, view) {
  return {
    at: "places", title, icon, href: () => mailPath(mailPlace.value?.accountId ?? null, null, view),
    here: (url) => {
      const at = parseMailAddress(url);
      return at !== null && isView(at.view, view);
    },
  };
}

/** @param {View} one @param {View} other */
function isView(one, other) {
  if (one.kind === "label" && other.kind === "label") return one.name.toLowerCase() === other.name.toLowerCase();
  return one.kind === other.kind;
}

/** The unread count of the shown account, or of all. @returns {import("../feature.js").NavCount | null} */
function unreadHere() {
  const n = accountOf(mailPlace.value?.accountId ?? null)?.unread ?? unifiedUnread.value;
  return n > 0 ? { n, words: plural(n, "unread thread") } : null;
}
