// @ts-check
/**
 * What a list is a list of: where its pages come from, and which threads belong in it. No state.
 *
 * Several accounts together show a mail that more than one of them received once: of its duplicates the leading one.
 */
import { RpcError, query, queryAlone } from "../rpc.js";
import { KIND_WORDS, kinds, noteKind } from "./kinds.js";

/** @typedef {import("./address.js").Filter} Filter */
/**
 * @typedef {{ threads: Thread[], nextCursor: string | null, notices?: string[], didYouMean?: string | null,
 *   isCut?: boolean }} ListPage `isCut`: it is the last, and there may be more threads than the server lists
 * @typedef {object} Source
 * @property {string} key
 * @property {"inbox" | "skipped" | "all" | "label" | "snoozed" | "triage" | "search"} name
 * @property {string} title
 * @property {string | null} accountId null: all of them
 * @property {import("./address.js").Filter | null} only what it is narrowed to
 * @property {boolean} ranked whether the order is the server's own; else newest first
 * @property {"sent" | "draft" | null} about what its rows tell of, and are ordered by: what came, or the person's own
 * words
 * @property {(thread: Thread) => boolean} belongs
 * @property {(thread: Thread) => boolean} [stays] whether one that is here already stays; without it, what belongs
 * @property {(cursor: string | null, limit: number) => Promise<ListPage>} page
 * @property {MailSelectAllInput | null} all how the server selects all that match; null: it does not
 * @property {() => void} [stop] the page that is being asked for is not wanted any more
 */

/** The provider's own labels: id -> what people call it. @type {Record<string, string>} */
const SYSTEM = { INBOX: "Inbox", UNREAD: "Unread", STARRED: "Starred", IMPORTANT: "Important", SENT: "Sent",
  DRAFT: "Draft", SPAM: "Spam", TRASH: "Trash" };
/** @type {Record<string, "sent" | "draft">} */
const OWN_WORDS = { sent: "sent", draft: "draft" };
/** @type {Record<Section | "all", string>} */
const TITLES = { inbox: "Inbox", skipped: "Skipped the inbox", all: "All mail" };
/** As many snoozed threads as the server lists. */
const MOST_SNOOZED = 500;
const HIDING = new Set(["SPAM", "TRASH", "DRAFT"]);

/** @type {Record<Filter, (thread: Thread) => boolean>} */
const PASSES = {
  "unread": (thread) => thread.unread,
  "to-me": (thread) => thread.toMe,
  "attachment": (thread) => thread.hasAttachments,
  "starred": (thread) => thread.starred,
};
/** The same, as the search says it. @type {Record<Filter, string>} */
const SEARCHED = { "unread": "is:unread", "to-me": "to:me OR cc:me", "attachment": "has:attachment",
  "starred": "is:starred" };

/**
 * The list, narrowed. What is here stays while the list whole would hold it: a thread that one reads where only unread
 * ones are shown does not vanish under one's eyes. It is gone when the list is asked for anew.
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
 * The threads of a kind: those in the inbox; who waits for an answer does so wherever the thread is.
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
      const found = await query("triage.threads", { kind, limit, ...within(accountId), ...after(cursor) });
      noteKind(found.threads.map(({ id }) => id), kind);
      return found;
    },
  };
}

/**
 * What was found stays where it stands: being archived does not make it less found.
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
 * Ask; where the server is busy and says when to come back, do so once.
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

/** Lists of which no thread is in the inbox. @param {string} name */
export function hasNothingInInbox(name) {
  return name === "skipped" || name === "snoozed";
}
