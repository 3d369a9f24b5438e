// @ts-check
/**
 * The sources of lists: where their pages come from, and which threads belong to them. No state.
 *
 * The unified inbox shows a mail that several accounts received only once: the leading duplicate.
 */
import { RpcError, query, queryAlone } from "../rpc.js";
import { KIND_WORDS, kinds, kindsAsked } from "./kinds.js";

/** @typedef {import("./address.js").Filter} Filter */
/**
 * @typedef {{ threads: Thread[], nextCursor: string | null, notices?: string[], didYouMean?: string | null,
 *   isCut?: boolean }} ListPage `isCut`: it is the last page, but there may be more threads than the server lists
 * @typedef {object} Source
 * @property {string} key
 * @property {"inbox" | "skipped" | "all" | "label" | "snoozed" | "triage" | "search"} name
 * @property {string} title
 * @property {string | null} accountId null: all of them
 * @property {import("./address.js").Filter | null} only the filter
 * @property {boolean} ranked whether the order is the server's own; else newest first
 * @property {"sent" | "draft" | null} about what its rows show, and are ordered by: received mail, or the person's own
 * words
 * @property {(thread: Thread) => boolean} belongs
 * @property {(thread: Thread) => boolean} [stays] whether a loaded thread stays; without it, `belongs` decides
 * @property {(cursor: string | null, limit: number) => Promise<ListPage>} page
 * @property {MailSelectAllInput | null} all how the server selects all that match; null: it does not
 * @property {() => void} [stop] cancels the current request for a page
 */

/** The provider's own labels: id -> the usual name. @type {Record<string, string>} */
const SYSTEM = { INBOX: "Inbox", UNREAD: "Unread", STARRED: "Starred", IMPORTANT: "Important", SENT: "Sent",
  DRAFT: "Draft", SPAM: "Spam", TRASH: "Trash" };
/** @type {Record<string, "sent" | "draft">} */
const OWN_WORDS = { sent: "sent", draft: "draft" };
/** @type {Record<Section | "all", string>} */
const TITLES = { inbox: "Inbox", skipped: "Skipped the inbox", all: "All mail" };
/** The most snoozed threads that the server lists. */
const MOST_SNOOZED = 500;
const HIDING = new Set(["SPAM", "TRASH", "DRAFT"]);

/** @type {Record<Filter, (thread: Thread) => boolean>} */
const PASSES = {
  "unread": (thread) => thread.unread,
  "to-me": (thread) => thread.toMe,
  "attachment": (thread) => thread.hasAttachments,
  "starred": (thread) => thread.starred,
};
/** The filters as words of a search. @type {Record<Filter, string>} */
const SEARCHED = { "unread": "is:unread", "to-me": "to:me OR cc:me", "attachment": "has:attachment",
  "starred": "is:starred" };

/**
 * The list with a filter. A loaded thread stays while it belongs to the unfiltered list: a thread that the person reads
 * under the filter "unread" does not vanish while they read. It is gone when the list is fetched again.
 * @param {Source} whole
 * @param {Filter | null} only
 * @returns {Source}
 */
function narrowed(whole, only) {
  if (only === null) return whole;
  return { ...whole, key: `${whole.key} only ${only}`, only, stays: whole.belongs,
    all: whole.all && { ...whole.all, only },
    belongs: (thread) => whole.belongs(thread) && PASSES[only](thread) };
}

/**
 * A section, or both in one list: all mail.
 * @param {Section | "all"} section @param {string | null} accountId @param {Filter | null} [only]
 * @returns {Source}
 */
export function sectionSource(section, accountId, only = null) {
  return narrowed({
    key: `${section} ${accountId ?? ""}`,
    name: section,
    title: TITLES[section],
    accountId,
    only: null,
    ranked: false,
    about: null,
    belongs: (thread) => (accountId !== null || thread.leads) && (thread.inInbox ? section !== "skipped"
      : section !== "inbox" && !thread.hidden),
    all: { section, ...within(accountId) },
    page: (cursor, limit) => query("mail.threads", { section, limit, ...by(only), ...within(accountId),
      ...after(cursor) }),
  }, only);
}

/**
 * @param {string} label its name @param {string | null} accountId @param {Filter | null} [only]
 * @returns {Source}
 */
export function labelSource(label, accountId, only = null) {
  const wanted = label.toLowerCase();
  const isIt = (/** @type {Label} */ { id, name }) => name.toLowerCase() === wanted
    || SYSTEM[id]?.toLowerCase() === wanted;
  const about = OWN_WORDS[wanted] ?? null;
  const carries = (/** @type {Thread} */ thread) => {
    if (about) return thread[about] !== null;
    const found = thread.labels.find(isIt);
    return found !== undefined && (!thread.hidden || HIDING.has(found.id));
  };
  return narrowed({
    key: `label ${accountId ?? ""} ${wanted}`,
    name: "label",
    title: label,
    accountId,
    only: null,
    ranked: false,
    about,
    belongs: carries,
    all: { labelName: label, ...within(accountId) },
    page: (cursor, limit) => query("mail.threads", { labelName: label, limit, ...by(only), ...within(accountId),
      ...after(cursor) }),
  }, only);
}

/** @param {string | null} accountId @param {Filter | null} [only] @returns {Source} */
export function snoozedSource(accountId, only = null) {
  const belongs = (/** @type {Thread} */ thread) => thread.snoozedUntil !== null
    && (accountId !== null || thread.leads) && (only === null || PASSES[only](thread));
  return {
    key: `snoozed ${accountId ?? ""} ${only ?? ""}`,
    name: "snoozed",
    title: "Snoozed",
    accountId,
    only,
    ranked: true,
    about: null,
    belongs,
    all: { snoozed: true, ...by(only), ...within(accountId) },
    page: async () => {
      const snoozed = (await query("mail.snoozed")).map((one) => one.thread);
      const threads = snoozed.filter((one) => belongs(one) && (accountId === null || one.accountId === accountId));
      return { threads, nextCursor: null, isCut: snoozed.length >= MOST_SNOOZED };
    },
  };
}

/**
 * The threads of a kind: those in the inbox; for "waiting for an answer" also those elsewhere.
 * @param {import("./kinds.js").Kind} kind @param {string | null} accountId
 * @returns {Source}
 */
export function triageSource(kind, accountId) {
  return {
    key: `triage ${accountId ?? ""} ${kind}`,
    name: "triage",
    title: KIND_WORDS[kind],
    accountId,
    only: null,
    ranked: false,
    about: null,
    belongs: (thread) => kinds.value.get(thread.id) === kind && (accountId !== null || thread.leads)
      && (kind === "waiting" ? !thread.hidden : thread.inInbox),
    all: null,
    page: async (cursor, limit) => {
      const note = kindsAsked();
      const found = await query("triage.threads", { kind, limit, ...within(accountId), ...after(cursor) });
      note(found.threads.map(({ id }) => id), kind);
      return found;
    },
  };
}

/**
 * The results of a search stay in the list: archiving a thread does not remove it from them.
 * @param {string} text
 * @param {string | null} accountId
 * @param {Filter | null} [only]
 * @returns {Source}
 */
export function searchSource(text, accountId, only = null) {
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const asked = only === null ? text : `${SEARCHED[only]} ${text}`;
  let wanted = new AbortController();
  return {
    key: `search ${accountId ?? ""} ${only ?? ""} ${text}`,
    name: "search",
    title: "Found",
    accountId,
    only,
    ranked: true,
    about: null,
    belongs: () => false,
    all: { query: asked, timeZone, ...within(accountId) },
    page: async (cursor, limit) => {
      if (!text.trim()) return { threads: [], nextCursor: null, notices: [] };
      const { signal } = wanted;
      const input = { query: asked, limit, timeZone, ...within(accountId), ...after(cursor) };
      const found = await oncePatiently(() => queryAlone("mail.search", input, { signal }), signal);
      return { ...found, didYouMean: found.didYouMean?.slice(asked.length - text.length) ?? null };
    },
    stop: () => {
      wanted.abort();
      wanted = new AbortController();
    },
  };
}

/**
 * Asks the server; if it is busy and says when to come back, tries once more.
 * @template T
 * @param {() => Promise<T>} ask
 * @param {AbortSignal} signal
 */
async function oncePatiently(ask, signal) {
  try {
    return await ask();
  } catch (error) {
    const waitS = error instanceof RpcError && error.code === "SERVICE_UNAVAILABLE" ? error.data.retryAfter : null;
    if (typeof waitS !== "number" || signal.aborted) throw error;
    await new Promise((resolve) => setTimeout(resolve, waitS * 1_000));
    if (signal.aborted) throw error;
    return ask();
  }
}

/** @param {Filter | null} only */
function by(only) {
  return only === null ? {} : { only };
}

/** @param {string | null} accountId */
function within(accountId) {
  return accountId === null ? {} : { accountId };
}

/** @param {string | null} cursor */
function after(cursor) {
  return cursor === null ? {} : { cursor };
}

/** Whether no thread of this list is in the inbox. @param {string} name */
export function hasNothingInInbox(name) {
  return name === "skipped" || name === "snoozed";
}
