// @ts-check
/**
 * Lists of threads: one per section and tab, filled page by page, kept true by live events.
 *
 * A list holds every row it was given, newest first, in plain arrays: 100,000 rows are some tens of megabytes, and only
 * those in sight are in the document. Events that arrive while a page is under way are applied again after it, because
 * the page may be older than they are. Owns the rows; it renders nothing.
 */
import { signal } from "@preact/signals";
import { query } from "../rpc.js";

const FIRST_PAGE = 50;
const NEXT_PAGE = 200;
/** How much of a long list is fetched again after a gap in the live updates. */
const MAX_REFETCHED = 1_000;
const HIDDEN_LABELS = ["SPAM", "TRASH", "DRAFT"];

/** @type {Map<string, ThreadList>} */
const lists = new Map();
/** Rows of a page repeat the same labels: they share one array. @type {Map<string, Label[]>} */
const sharedLabels = new Map();

/**
 * @param {Section} section
 * @param {string | null} accountId null: all accounts
 */
export function listOf(section, accountId) {
  const key = `${section} ${accountId ?? ""}`;
  let list = lists.get(key);
  if (!list) lists.set(key, (list = new ThreadList(section, accountId)));
  return list;
}

/** A thread is now as given: put it where it belongs, in every list. @param {Thread} thread */
export function applyThread(thread) {
  for (const list of lists.values()) list.apply(thread);
}

/** @param {string} id */
export function forgetThread(id) {
  for (const list of lists.values()) list.remove(id);
}

/** The row as some list holds it. @param {string} id @returns {Thread | null} */
export function knownThread(id) {
  for (const list of lists.values()) {
    const row = list.get(id);
    if (row) return row;
  }
  return null;
}

/** The live updates have a gap: fetch again what was fetched. */
export function refetchLists() {
  for (const list of lists.values()) void list.refetch();
}

export class ThreadList {
  /**
   * @param {Section} section
   * @param {string | null} accountId
   */
  constructor(section, accountId) {
    this.section = section;
    this.accountId = accountId;
    /** Newest first. @type {Thread[]} */
    this.rows = [];
    /** Moves whenever anything here did. */
    this.version = signal(0);
    /** "fresh": never asked for. */
    this.state = /** @type {"fresh" | "loading" | "ready" | "failed"} */ ("fresh");
    /** Whether the last page is here. */
    this.complete = false;
    this.problem = "";
    /** @type {Map<string, Thread>} */
    this.byId = new Map();
    /** @type {string | null} */
    this.cursor = null;
    /** Events since the request under way began: id -> thread, or null for gone. @type {Map<string, Thread | null> | null} */
    this.journal = null;
  }

  /** @param {string} id */
  get(id) {
    return this.byId.get(id) ?? null;
  }

  /** @param {string} id */
  indexOf(id) {
    const row = this.byId.get(id);
    return row ? place(this.rows, row) : -1;
  }

  /** Ask for the first page, unless that was done. */
  start() {
    if (this.state === "fresh") void this.more();
  }

  /** Fetch the next page. Safe to call at every scroll: one request at a time. */
  async more() {
    if (this.state === "loading" || this.complete) return;
    await this.#fetching(async () => {
      const page = await this.#page(this.cursor, this.rows.length ? NEXT_PAGE : FIRST_PAGE);
      for (const thread of page.threads) this.#put(thread);
      this.#ends(page.nextCursor);
    });
  }

  /** Fetch again what is here (a long list: its beginning) and take it over in one step. */
  async refetch() {
    if (this.state !== "ready" && this.state !== "failed") return;
    await this.#fetching(async () => {
      const wanted = Math.min(MAX_REFETCHED, Math.max(this.rows.length, FIRST_PAGE));
      /** @type {Thread[]} */
      let fresh = [];
      /** @type {string | null} */
      let cursor = null;
      do {
        const page = await this.#page(cursor, Math.min(NEXT_PAGE, wanted - fresh.length));
        fresh = fresh.concat(page.threads);
        cursor = page.nextCursor;
      } while (cursor !== null && fresh.length < wanted);
      this.rows = [];
      this.byId = new Map();
      for (const thread of fresh) this.#put(thread);
      this.#ends(cursor);
    });
  }

  /** @param {Thread} thread */
  apply(thread) {
    if (this.accountId !== null && thread.accountId !== this.accountId) return;
    const belongs = this.section === "inbox" ? thread.inInbox : !thread.inInbox && !isHidden(thread);
    this.journal?.set(thread.id, belongs ? thread : null);
    if (belongs && this.#isWithin(thread)) this.#put(thread);
    else this.#take(thread.id);
    this.version.value += 1;
  }

  /** @param {string} id */
  remove(id) {
    this.journal?.set(id, null);
    if (this.#take(id)) this.version.value += 1;
  }

  /** @param {() => Promise<void>} work */
  async #fetching(work) {
    this.state = "loading";
    this.journal = new Map();
    this.version.value += 1;
    try {
      await work();
      for (const [id, thread] of this.journal) {
        if (thread && this.#isWithin(thread)) this.#put(thread);
        else this.#take(id);
      }
      this.state = "ready";
    } catch (error) {
      this.state = "failed";
      this.problem = error instanceof Error ? error.message : String(error);
    } finally {
      this.journal = null;
      this.version.value += 1;
    }
  }

  /**
   * @param {string | null} cursor
   * @param {number} limit
   */
  #page(cursor, limit) {
    const input = { section: this.section, limit, ...(this.accountId !== null && { accountId: this.accountId }) };
    return query("mail.threads", cursor === null ? input : { ...input, cursor });
  }

  /** @param {string | null} nextCursor */
  #ends(nextCursor) {
    this.cursor = nextCursor;
    this.complete = nextCursor === null;
  }

  /** Whether a row lies within what was fetched; what lies beyond comes with its own page. @param {Thread} thread */
  #isWithin(thread) {
    const last = this.rows.at(-1);
    if (this.state === "fresh" || (!last && !this.complete)) return false;
    return this.complete || !last || inOrder(thread, last) <= 0;
  }

  /** @param {Thread} thread */
  #put(thread) {
    const row = { ...thread, labels: shared(thread) };
    const known = this.byId.get(row.id);
    if (known) {
      const at = place(this.rows, known);
      if (inOrder(known, row) === 0) {
        this.rows[at] = row;
        this.byId.set(row.id, row);
        return;
      }
      this.rows.splice(at, 1);
    }
    const last = this.rows.at(-1);
    if (!last || inOrder(last, row) < 0) this.rows.push(row);
    else this.rows.splice(place(this.rows, row), 0, row);
    this.byId.set(row.id, row);
  }

  /** @param {string} id */
  #take(id) {
    const known = this.byId.get(id);
    if (!known) return false;
    this.rows.splice(place(this.rows, known), 1);
    this.byId.delete(id);
    return true;
  }
}

/** The server's order: newest first, then by id downwards. @param {Thread} a @param {Thread} b */
function inOrder(a, b) {
  if (a.lastMessageAt !== b.lastMessageAt) return a.lastMessageAt > b.lastMessageAt ? -1 : 1;
  if (a.id === b.id) return 0;
  return a.id > b.id ? -1 : 1;
}

/** Where a row is, or would be. @param {Thread[]} rows @param {Thread} row */
function place(rows, row) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = /** @type {Thread} */ (rows[middle]);
    if (inOrder(other, row) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Spam, trash and drafts stand in no section. @param {Thread} thread */
function isHidden(thread) {
  return thread.labels.some((label) => HIDDEN_LABELS.includes(label.id));
}

/** @param {Thread} thread */
function shared(thread) {
  const key = JSON.stringify([thread.accountId, thread.labels]);
  const known = sharedLabels.get(key);
  if (known) return known;
  sharedLabels.set(key, thread.labels);
  return thread.labels;
}
