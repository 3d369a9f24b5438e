// @ts-check
/**
 * Lists of threads: one per section and tab, label or search. They are filled page by page and kept up to date by live
 * events.
 *
 * A list holds every fetched row, newest first or in the server's order, in plain arrays: 100,000 rows are some tens of
 * megabytes, and only the visible ones are in the document. Events that arrive while a page is being fetched are
 * applied again after it, because the page may be older than the events. Owns the rows; it renders nothing.
 */
import { batch, signal } from "@preact/signals";
import { noteSnooze } from "./returned.js";
import { labelSource, searchSource, sectionSource, snoozedSource, triageSource } from "./sources.js";

/** @typedef {import("./sources.js").Source} Source */
/** @typedef {import("./address.js").View} View */

const FIRST_PAGE = 50;
const NEXT_PAGE = 200;
/** How many rows of a long list are fetched again after a gap in the live updates. */
const MAX_REFETCHED = 1_000;
/** The number of recently used lists that are kept, besides the sections. */
const MAX_VISITED = 6;

/** The most recently used are last. @type {Map<string, ThreadList>} */
const lists = new Map();
/** Many rows have the same labels: they share one array. @type {Map<string, Label[]>} */
const sharedLabels = new Map();

/**
 * @param {Section} section
 * @param {string | null} accountId null: all accounts
 */
export function listOf(section, accountId) {
  return kept(sectionSource(section, accountId));
}

/** What the mail page shows, from top to bottom. @param {View} view @param {string | null} accountId */
export function listsOf(view, accountId) {
  const only = view.only ?? null;
  if (view.kind === "label") return [kept(labelSource(view.name, accountId, only))];
  if (view.kind === "all") return [kept(sectionSource("all", accountId, only))];
  if (view.kind === "snoozed") return [kept(snoozedSource(accountId, only))];
  if (view.kind === "drafts") return [];
  if (view.kind === "triage") return [kept(triageSource(view.name, accountId))];
  if (view.kind === "search") return [kept(searchSource(view.query, accountId, only))];
  return [kept(sectionSource("inbox", accountId, only)), kept(sectionSource("skipped", accountId, only))];
}

/** Applies the new state of a thread: puts it at its place in every list. @param {Thread} thread */
export function applyThread(thread) {
  batch(() => {
    for (const list of lists.values()) list.apply(thread);
  });
}

/** @param {string} id */
export function forgetThread(id) {
  for (const list of lists.values()) list.remove(id);
}

/** The row of a thread, from any list. @param {string} id @returns {Thread | null} */
export function knownThread(id) {
  for (const list of lists.values()) {
    const row = list.get(id);
    if (row) return row;
  }
  return null;
}

/** The newest loaded threads, each once; at most `most` of each list. @param {number} most */
export function threadsAtHand(most) {
  /** @type {Map<string, Thread>} */
  const found = new Map();
  for (const list of lists.values()) for (const row of list.rows.slice(0, most)) found.set(row.id, row);
  return [...found.values()].sort((a, b) => (a.lastMessageAt < b.lastMessageAt ? 1 : -1));
}

/** Fetches the lists again, after a gap in the live updates. */
export function refetchLists() {
  for (const list of lists.values()) void list.refetch();
}

/** Fetches what could not be fetched. */
export function tryListsAgain() {
  for (const list of lists.values()) if (list.state === "failed") void list.tryAgain();
}

/**
 * Fetches the triage lists again: a thread that no list holds has another kind now, and only the server knows which
 * list it belongs in.
 */
export function refetchTriage() {
  for (const list of lists.values()) if (list.name === "triage") void list.refetch();
}

/** @param {Source} source */
function kept(source) {
  let list = lists.get(source.key);
  if (list && list === [...lists.values()].at(-1)) return list;
  lists.delete(source.key);
  list ??= new (source.ranked ? RankedList : ThreadList)(source);
  lists.set(source.key, list);
  const visited = [...lists.values()].filter((one) => one.source.only !== null || (one.name !== "inbox"
    && one.name !== "skipped"));
  for (const old of visited.slice(0, -MAX_VISITED)) lists.delete(old.source.key);
  return list;
}

export class ThreadList {
  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    this.name = source.name;
    this.title = source.title;
    /** Newest first. @type {Thread[]} */
    this.rows = [];
    /** Changes whenever anything in the list does. */
    this.version = signal(0);
    /** "fresh": never fetched. */
    this.state = /** @type {"fresh" | "loading" | "ready" | "failed"} */ ("fresh");
    /** Whether to fetch again after the current fetch. */
    this.again = false;
    /** Whether the rows may be older than a gap in the live updates. */
    this.stale = false;
    /** Whether the last page is loaded. */
    this.complete = false;
    /** Whether there may be more threads than the server lists. */
    this.isCut = false;
    this.problem = "";
    /**
     * A step on the whole list is running: further rows would only leave again, so no page is fetched. New mail still
     * appears.
     */
    this.paused = false;
    /** The server's notices about the last page. @type {string[]} */
    this.notices = [];
    /** The search in another spelling that finds more. @type {string | null} */
    this.didYouMean = null;
    /** @type {Map<string, Thread>} */
    this.byId = new Map();
    /** @type {string | null} */
    this.cursor = null;
    /**
     * Events since the current request began: id -> thread, or null for a deleted one.
     * @type {Map<string, Thread | null> | null}
     */
    this.journal = null;
  }

  /** @param {string} id */
  get(id) {
    return this.byId.get(id) ?? null;
  }

  /** @param {string} id */
  indexOf(id) {
    const row = this.byId.get(id);
    return row ? this.place(row) : -1;
  }

  /** Fetches the first page, unless that was done. */
  start() {
    if (this.state === "fresh") void this.more();
  }

  /** Fetches the next page. Safe to call at every scroll: one request at a time. */
  async more() {
    if (this.state === "loading" || this.complete || this.paused) return;
    await this.#fetching(async () => {
      const page = await this.source.page(this.cursor, this.rows.length ? NEXT_PAGE : FIRST_PAGE);
      for (const thread of page.threads) this.put(thread);
      this.#ends(page);
    });
  }

  /**
   * Fetches the loaded rows again (of a long list: the beginning) and replaces them in one step. A request under way is
   * awaited first, since it may have been answered before the gap.
   */
  async refetch() {
    this.stale = true;
    this.again = this.state === "loading";
    if (this.state !== "ready" && this.state !== "failed") return;
    await this.#fetching(async () => {
      const wanted = Math.min(MAX_REFETCHED, Math.max(this.rows.length, FIRST_PAGE));
      /** @type {Thread[]} */
      let fresh = [];
      /** @type {import("./sources.js").ListPage} */
      let page = { threads: [], nextCursor: null };
      do {
        page = await this.source.page(page.nextCursor, Math.min(NEXT_PAGE, wanted - fresh.length));
        fresh = fresh.concat(page.threads);
      } while (page.nextCursor !== null && fresh.length < wanted);
      this.rows = [];
      this.byId = new Map();
      for (const thread of fresh) this.put(thread);
      this.#ends(page);
      this.stale = false;
    });
  }

  /** Fetches what could not be fetched: the rows again, or further ones. */
  tryAgain() {
    return this.stale ? this.refetch() : this.more();
  }

  /** @param {Thread} thread */
  apply(thread) {
    if (this.source.accountId !== null && thread.accountId !== this.source.accountId) return;
    const belongs = this.keeps(thread);
    this.journal?.set(thread.id, belongs ? thread : null);
    const changed = belongs && this.isWithin(thread) ? this.put(thread) : this.take(thread.id);
    if (changed) this.version.value += 1;
  }

  /** @param {string} id */
  remove(id) {
    this.journal?.set(id, null);
    if (this.take(id)) this.version.value += 1;
  }

  /** @param {() => Promise<void>} work */
  async #fetching(work) {
    this.state = "loading";
    this.journal = new Map();
    this.version.value += 1;
    try {
      await work();
      for (const [id, thread] of this.journal) {
        if (thread && this.isWithin(thread)) this.put(thread);
        else this.take(id);
      }
      this.state = "ready";
    } catch (error) {
      this.state = "failed";
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.journal = null;
      this.version.value += 1;
    }
    if (this.again) void this.refetch();
  }

  /** @param {import("./sources.js").ListPage} page the last fetched one */
  #ends({ nextCursor, notices = [], didYouMean = null, isCut = false }) {
    this.cursor = nextCursor;
    this.complete = nextCursor === null;
    this.isCut = isCut;
    this.notices = notices;
    this.didYouMean = didYouMean;
  }

  /** Whether the thread, in its current state, belongs in this list. @param {Thread} thread */
  keeps(thread) {
    const { belongs, stays } = this.source;
    return belongs(thread) || (stays !== undefined && this.byId.has(thread.id) && stays(thread));
  }

  /** Whether a row lies within the loaded range; rows beyond it come with their own page. @param {Thread} thread */
  isWithin(thread) {
    const last = this.rows.at(-1);
    if (this.state === "fresh" || (!last && !this.complete && !this.paused)) return false;
    return this.complete || !last || this.inOrder(thread, last) <= 0;
  }

  /** The server's order: newest first, then by id downwards. @param {Thread} a @param {Thread} b */
  inOrder(a, b) {
    const [one, other] = [this.timeOf(a), this.timeOf(b)];
    if (one !== other) return one > other ? -1 : 1;
    if (a.id === b.id) return 0;
    return a.id > b.id ? -1 : 1;
  }

  /** The time that the row shows. @param {Thread} thread */
  timeOf(thread) {
    const { about } = this.source;
    return (about && thread[about]?.at) || thread.lastMessageAt;
  }

  /** The index of a row, or the index where it belongs. @param {Thread} row */
  place(row) {
    let low = 0;
    let high = this.rows.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const other = /** @type {Thread} */ (this.rows[middle]);
      if (this.inOrder(other, row) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Returns whether anything changed. @param {Thread} thread */
  put(thread) {
    noteSnooze(thread);
    const known = this.byId.get(thread.id);
    if (!known && !this.#leads(thread)) return false;
    const row = { ...thread, labels: shared(thread), ...(known?.match && !thread.match && { match: known.match }) };
    if (known) {
      const at = this.place(known);
      if (this.source.ranked || this.inOrder(known, row) === 0) {
        this.rows[at] = row;
        this.byId.set(row.id, row);
        return true;
      }
      this.rows.splice(at, 1);
    }
    const last = this.rows.at(-1);
    if (this.source.ranked || !last || this.inOrder(last, row) < 0) this.rows.push(row);
    else this.rows.splice(this.place(row), 0, row);
    this.byId.set(row.id, row);
    return true;
  }

  /** Removes a row. Returns whether it was in the list. @param {string} id */
  take(id) {
    const known = this.byId.get(id);
    if (!known) return false;
    this.rows.splice(this.place(known), 1);
    this.byId.delete(id);
    return true;
  }

  /**
   * Whether this is the leading duplicate: of duplicates that both belong here it removes the other.
   * @param {Thread} thread
   */
  #leads(thread) {
    if (this.source.accountId !== null) return true;
    const duplicates = thread.twins.filter((one) => this.byId.has(one.threadId));
    if (duplicates.length && !thread.leads) return false;
    for (const duplicate of duplicates) this.take(duplicate.threadId);
    return true;
  }
}

/** A list in the server's order: known rows are updated, new ones are not added. */
export class RankedList extends ThreadList {
  /** @override @param {Thread} thread */
  keeps(thread) {
    const known = this.byId.get(thread.id);
    return this.source.belongs(thread) || (this.name === "search" && known !== undefined
      && known.hidden === thread.hidden);
  }

  /** @override */
  isWithin() {
    return this.state !== "fresh" && this.complete;
  }

  /** @override @param {Thread} row */
  place(row) {
    return this.rows.findIndex((one) => one.id === row.id);
  }

  /** @override @param {Thread} thread */
  put(thread) {
    const changed = super.put(thread);
    if (changed && this.name === "snoozed") this.rows.sort((a, b) => ((a.snoozedUntil ?? "") < (b.snoozedUntil ?? "")
      ? -1 : 1));
    return changed;
  }

  /** @override @param {Thread} thread */
  apply(thread) {
    const known = this.byId.has(thread.id);
    if (!known || !this.keeps(thread)) super.apply(thread);
    else if (this.put(thread)) this.version.value += 1;
  }
}

/** @param {Thread} thread */
function shared(thread) {
  const key = JSON.stringify([thread.accountId, thread.labels]);
  const known = sharedLabels.get(key);
  if (known) return known;
  sharedLabels.set(key, thread.labels);
  return thread.labels;
}
