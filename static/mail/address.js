// @ts-check
/**
 * The addresses of mail:
 *
 *     /p/mail                        the unified inbox
 *     /p/mail/t/<thread>             a thread opened from it
 *     /p/mail/a/<account>            one account
 *     /p/mail/a/<account>/t/<thread>
 *     /p/mail/l/<label>              the threads with a label, by its name; below an account as well
 *     /p/mail/k/<kind>               the threads of a kind, as triage tells them apart
 *     /p/mail/all                    all mail, but for spam and the trash
 *     /p/mail/snoozed                snoozed threads
 *     /p/mail/drafts                 drafts
 *     /p/mail/search?q=<query>       the results of a search; a thread opened from it keeps the query
 *     ?only=unread                   after any of them: a filter; a thread opened from the list keeps it, too
 */
import { computed } from "@preact/signals";
import { address, decodePart } from "../router.js";
import { kindOf } from "./kinds.js";

/** @typedef {{ kind: "sections" }} SectionsView */
/** @typedef {{ kind: "label", name: string }} LabelView */
/** @typedef {{ kind: "all" }} AllView */
/** @typedef {{ kind: "snoozed" }} SnoozedView */
/** @typedef {{ kind: "drafts" }} DraftsView */
/** @typedef {{ kind: "triage", name: import("./kinds.js").Kind }} TriageView */
/** @typedef {{ kind: "search", query: string }} SearchView */
/** @typedef {"unread" | "to-me" | "attachment" | "starred"} Filter */
/**
 * What the mail page lists, and the filter on it.
 * @typedef {(SectionsView | LabelView | AllView | SnoozedView | DraftsView | TriageView | SearchView)
 *   & { only?: Filter }} View
 */
/** @typedef {{ accountId: string | null, threadId: string | null, view: View }} MailPlace */

const LIST = String.raw`l/([^/]+)|k/([a-z]+)|(search|all|snoozed|drafts)`;
const MAIL = new RegExp(String.raw`^/p/mail(?:/a/([^/]+))?(?:/(?:${LIST}))?(?:/t/([^/]+))?/?$`);

/** @type {readonly Filter[]} */
export const FILTERS = ["unread", "to-me", "attachment", "starred"];

/** @type {View} The inbox, and the mail that skipped it. */
export const SECTIONS_VIEW = { kind: "sections" };

/** The current place in mail; null: the person is on another page. */
export const mailPlace = computed(() => parseMailAddress(address.value));

/** @param {URL} url @returns {MailPlace | null} */
export function parseMailAddress({ pathname, searchParams }) {
  const match = MAIL.exec(pathname);
  if (!match && pathname !== "/") return null;
  const view = viewOf(match?.[2], match?.[3], match?.[4], searchParams.get("q") ?? "");
  const only = FILTERS.find((one) => one === searchParams.get("only"));
  return { accountId: decode(match?.[1]), threadId: decode(match?.[5]), view: only ? { ...view, only } : view };
}

/**
 * @param {string | null} accountId null: unified
 * @param {string | null} [threadId]
 * @param {View} [view]
 */
export function mailPath(accountId, threadId = null, view = SECTIONS_VIEW) {
  const account = accountId === null ? "" : `/a/${encodeURIComponent(accountId)}`;
  const thread = threadId === null ? "" : `/t/${encodeURIComponent(threadId)}`;
  const list = view.kind === "sections" ? "" : view.kind === "label" ? `/l/${encodeURIComponent(view.name)}`
    : view.kind === "triage" ? `/k/${view.name}` : `/${view.kind}`;
  const query = [
    ...(view.kind === "search" ? [`q=${encodeURIComponent(view.query)}`] : []), ...(view.only ? [`only=${view.only}`]
      : [])];
  return `/p/mail${account}${list}${thread}${query.length ? `?${query.join("&")}` : ""}`;
}

/** Another view, with the current filter. @param {View} view @returns {View} */
export function underFilter(view) {
  const only = mailPlace.value?.view.only;
  return only ? { ...view, only } : view;
}

/**
 * @param {string | undefined} label
 * @param {string | undefined} kind
 * @param {string | undefined} word
 * @param {string} query
 * @returns {View}
 */
function viewOf(label, kind, word, query) {
  if (label !== undefined) return { kind: "label", name: decode(label) ?? "" };
  const name = kindOf(kind);
  if (name) return { kind: "triage", name };
  if (word === "all" || word === "snoozed" || word === "drafts") return { kind: word };
  return word === "search" ? { kind: "search", query } : SECTIONS_VIEW;
}

/** @param {string | undefined} part */
function decode(part) {
  return part === undefined ? null : decodePart(part);
}
