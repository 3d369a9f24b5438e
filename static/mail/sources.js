// @ts-check
/**
 * What a list is a list of: where its pages come from, and which threads belong in it. No state.
 *
 * Several accounts together show a mail that more than one of them received once: of its duplicates the leading one.
 */
import { RpcError, query, queryAlone } from "../rpc.js";

/**
 * @typedef {{ threads: Thread[], nextCursor: string | null, notices?: string[] }} ListPage
 * @typedef {object} Source
 * @property {string} key
 * @property {"inbox" | "skipped" | "label" | "snoozed" | "search"} name
 * @property {string} title
 * @property {string | null} accountId null: all of them
 * @property {boolean} ranked whether the order is the server's own; else newest first
 * @property {"sent" | "draft" | null} about what its rows tell of, and are ordered by: what came, or the person's own
 * words
 * @property {(thread: Thread) => boolean} belongs
 * @property {(cursor: string | null, limit: number) => Promise<ListPage>} page
 * @property {() => void} [stop] the page that is being asked for is not wanted any more
 */

/** The provider's own labels: id -> what people call it. @type {Record<string, string>} */
const SYSTEM = { INBOX: "Inbox", UNREAD: "Unread", STARRED: "Starred", IMPORTANT: "Important", SENT: "Sent",
  DRAFT: "Draft", SPAM: "Spam", TRASH: "Trash" };
/** @type {Record<string, "sent" | "draft">} */
const OWN_WORDS = { sent: "sent", draft: "draft" };
const HIDING = new Set(["SPAM", "TRASH", "DRAFT"]);

/** @param {Section} section @param {string | null} accountId @returns {Source} */
export function sectionSource(section, accountId) {
  return {
    key: `${section} ${accountId ?? ""}`,
    name: section,
    title: section === "inbox" ? "Inbox" : "Skipped the inbox",
    accountId,
    ranked: false,
    about: null,
    belongs: (thread) => thread.inInbox === (section === "inbox") && !(section === "skipped" && thread.hidden)
      && (accountId !== null || thread.leads),
    page: (cursor, limit) => query("mail.threads", { section, limit, ...within(accountId), ...after(cursor) }),
  };
}

/** @param {string} label its name @param {string | null} accountId @returns {Source} */
export function labelSource(label, accountId) {
  const wanted = label.toLowerCase();
  const isIt = (/** @type {Label} */ { id, name }) => name.toLowerCase() === wanted
    || SYSTEM[id]?.toLowerCase() === wanted;
  const about = OWN_WORDS[wanted] ?? null;
  const carries = (/** @type {Thread} */ thread) => {
    if (about) return thread[about] !== null;
    const found = thread.labels.find(isIt);
    return found !== undefined && (!thread.hidden || HIDING.has(found.id));
  };
  return {
    key: `label ${accountId ?? ""} ${wanted}`,
    name: "label",
    title: label,
    accountId,
    ranked: false,
    about,
    belongs: carries,
    page: (cursor, limit) => query("mail.threads", { labelName: label, limit, ...within(accountId), ...after(cursor) }),
  };
}

/** @param {string | null} accountId @returns {Source} */
export function snoozedSource(accountId) {
  const belongs = (/** @type {Thread} */ thread) => thread.snoozedUntil !== null
    && (accountId !== null || thread.leads);
  return {
    key: `snoozed ${accountId ?? ""}`,
    name: "snoozed",
    title: "Snoozed",
    accountId,
    ranked: true,
    about: null,
    belongs,
    page: async () => {
      const threads = (await query("mail.snoozed")).map((one) => one.thread);
      return { threads: threads.filter((one) => belongs(one) && (accountId === null || one.accountId === accountId)),
        nextCursor: null };
    },
  };
}

/**
 * What was found stays where it stands: being archived does not make it less found.
 * @param {string} text
 * @param {string | null} accountId
 * @returns {Source}
 */
export function searchSource(text, accountId) {
  const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  let wanted = new AbortController();
  return {
    key: `search ${accountId ?? ""} ${text}`,
    name: "search",
    title: "Found",
    accountId,
    ranked: true,
    about: null,
    belongs: () => false,
    page: async (cursor, limit) => {
      if (!text.trim()) return { threads: [], nextCursor: null, notices: [] };
      const { signal } = wanted;
      const input = { query: text, limit, timeZone, ...within(accountId), ...after(cursor) };
      return oncePatiently(() => queryAlone("mail.search", input, { signal }), signal);
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

/** @param {string | null} accountId */
function within(accountId) {
  return accountId === null ? {} : { accountId };
}

/** @param {string | null} cursor */
function after(cursor) {
  return cursor === null ? {} : { cursor };
}
