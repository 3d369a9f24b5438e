// @ts-check
/**
 * The data for reading without the server: the rows of the newest threads, the threads that were fetched, and a few
 * small answers; and the answers made from them while the server is away.
 *
 * Queued acts are applied on top, both of stored data and of the server's answers: the page shows what the person did.
 * Bodies are stored as the server sent them, sanitized, and shown in the same frame.
 */
import { heardAt } from "../stand_in.js";
import { RpcError, query } from "../rpc.js";
import { rowAfter } from "../mail/relabel.js";
import { labelSource, sectionSource } from "../mail/sources.js";
import { confirmed, mayShow } from "./owner.js";
import { preparedFrom } from "./prepared.js";
import { queue } from "./queue.js";
import { all, get, inStore } from "./store.js";

const MAX_ROWS = 1_000;
/** The limits for threads with their messages, together and each. */
const MAX_BYTES = 48 * 1024 * 1024;
const MAX_THREAD_BYTES = 4 * 1024 * 1024;
const PAGE = 200;
/** Small answers that list what is in accounts. @type {Set<ProcedureName>} */
const LISTS = new Set(/** @type {ProcedureName[]} */ (["mail.labels", "mail.drafts", "mail.outgoing"]));
/** Small answers that the app can't work without. @type {Set<ProcedureName>} */
const ANSWERS = new Set(/** @type {ProcedureName[]} */ ([...LISTS, "mail.accounts", "mail.signature"]));
const ACCOUNTS = keyOf("mail.accounts", undefined);

/** @typedef {(name: import("./store.js").Table) => IDBObjectStore} Of */

/** @type {import("../stand_in.js").StandIn["heard"]} */
export function heard(name, input, output) {
  heardAt.value = Date.now();
  const work = keep(name, input, output);
  if (work) void confirmed.promise.then(work).catch(() => undefined); // a full disk: the older data remains
  return withWaiting(name, input, output);
}

/** @param {ProcedureName} name @param {any} input @param {any} output @returns {(() => Promise<unknown>) | null} */
function keep(name, input, output) {
  if (name === "mail.threads") return () => putRows(output.threads);
  if (name === "mail.thread") return () => putThread(output);
  if (name === "mail.accounts") return () => putAccounts(output);
  if (name === "mail.signature") return () => putSignature(input, output);
  if (LISTS.has(name)) return () => putList(keyOf(name, input), output);
  return null;
}

/** @type {import("../stand_in.js").StandIn["answer"]} */
export async function answer(name, input) {
  if (!(await mayShow())) return undefined;
  if (name === "mail.threads") return listed(input);
  if (name === "mail.snoozed") return snoozed();
  if (name === "mail.search") throw away("Search asks the server, which can’t be reached.");
  if (name === "mail.thread") return (await detail(input.id)) ?? notHere();
  if (name === "mail.prepare") return prepared(input);
  if (ANSWERS.has(name)) return get("answers", keyOf(name, input));
  return undefined;
}

/** Stores the new row of a thread from a live event. @param {LiveEvent} event */
export async function noteEvent({ id, kind, payload }) {
  await confirmed.promise;
  if (kind === "account.removed") await forgetAccount(id);
  const { thread } = /** @type {{ thread?: Thread }} */ (payload ?? {});
  if (thread) await putRows([thread]);
  else if (kind === "thread.removed") {
    await inStore(["rows", "threads"], "readwrite", (of) => {
      of("rows").delete(id);
      of("threads").delete(id);
    });
  }
}

/**
 * Fetches everything that is stored: a page fetches only the beginning, and may have done so before this module was
 * ready.
 */
export async function fetchKept() {
  await confirmed.promise;
  const accounts = await query("mail.accounts").catch(() => null); // first: only their mail is stored
  if (accounts) await Promise.allSettled([fetchAnswers(accounts), fetchRows()]);
}

/** Fetches the small answers; they are stored like every answer. @param {Account[]} accounts */
async function fetchAnswers(accounts) {
  await Promise.all([query("mail.labels", {}), query("mail.drafts"), query("mail.outgoing"),
    ...accounts.map(({ id }) => query("mail.signature", { accountId: id }))]);
}

/** Fetches the rows of the newest threads. */
async function fetchRows() {
  /** @type {Thread[]} */
  let found = [];
  for (const section of /** @type {Section[]} */ (["inbox", "skipped"])) {
    /** @type {string | null} */
    let cursor = null;
    let count = 0;
    do {
      /** @type {OutputOf<"mail.threads">} */
      const page = await query("mail.threads", { section, limit: PAGE, ...(cursor !== null && { cursor }) });
      found = found.concat(page.threads);
      count += page.threads.length;
      cursor = page.nextCursor;
    } while (cursor !== null && count < MAX_ROWS);
  }
  found.sort(newestFirst);
  await inStore(["answers", "rows"], "readwrite", (of) => {
    of("rows").clear();
    whereHeld(of, (isHeld) => {
      for (const row of found.filter(({ accountId }) => isHeld(accountId)).slice(0, MAX_ROWS)) of("rows").put(row);
    });
  });
}

/**
 * Stores the accounts. If one that was stored is not among them, it was deleted, or is not shared with this person any
 * more: deletes the data of all accounts that are not among them.
 * @param {Account[]} fresh
 */
function putAccounts(fresh) {
  const ids = new Set(fresh.map(({ id }) => id));
  const signatures = new Set([...ids].map((accountId) => keyOf("mail.signature", { accountId })));
  return inStore(["answers", "rows", "threads"], "readwrite", (of) => {
    const asked = of("answers").get(ACCOUNTS);
    asked.onsuccess = () => {
      const known = /** @type {Account[] | undefined} */ (asked.result);
      of("answers").put(fresh, ACCOUNTS);
      if (known?.every(({ id }) => ids.has(id))) return;
      sift(of("answers").openCursor(), (_, key) => key.startsWith("mail.signature ") && !signatures.has(key));
      for (const name of LISTS) shorten(of("answers").openCursor(keysOf(name)), ({ accountId }) => ids.has(accountId));
      sift(of("rows").openCursor(), (/** @type {Thread} */ row) => !ids.has(row.accountId));
      sift(of("threads").openCursor(), (/** @type {{ detail: ThreadDetail }} */ { detail }) =>
        !ids.has(detail.thread?.accountId));
    };
  });
}

/** @param {string} accountId */
async function forgetAccount(accountId) {
  const known = /** @type {Account[] | undefined} */ (await get("answers", ACCOUNTS));
  if (known) await putAccounts(known.filter(({ id }) => id !== accountId));
}

/**
 * Calls `put` in the same transaction, with a function that says whether an account is stored: an answer may arrive
 * after its account was removed. Before the accounts are known, the function returns true for each.
 * @param {Of} of
 * @param {(isHeld: (accountId: string) => boolean) => void} put
 */
function whereHeld(of, put) {
  const asked = of("answers").get(ACCOUNTS);
  asked.onsuccess = () => {
    const known = /** @type {Account[] | undefined} */ (asked.result);
    put((accountId) => known === undefined || known.some(({ id }) => id === accountId));
  };
}

/** @param {InputOf<"mail.signature">} input @param {OutputOf<"mail.signature">} output */
function putSignature(input, output) {
  return inStore(["answers"], "readwrite", (of) => whereHeld(of, (isHeld) => {
    if (isHeld(input.accountId)) of("answers").put(output, keyOf("mail.signature", input));
  }));
}

/** @param {string} key @param {{ accountId: string }[]} list */
function putList(key, list) {
  return inStore(["answers"], "readwrite", (of) => whereHeld(of, (isHeld) => {
    of("answers").put(list.filter(({ accountId }) => isHeld(accountId)), key);
  }));
}

/**
 * Keeps in each list only the entries for which `stays` holds.
 * @param {IDBRequest<IDBCursorWithValue | null>} walk
 * @param {(one: { accountId: string }) => boolean} stays
 */
function shorten(walk, stays) {
  walk.onsuccess = () => {
    const cursor = walk.result;
    if (!cursor) return;
    cursor.update(cursor.value.filter(stays));
    cursor.continue();
  };
}

/**
 * Deletes the records for which `isGone` holds.
 * @param {IDBRequest<IDBCursorWithValue | null>} walk
 * @param {(record: any, key: string) => boolean} isGone
 */
function sift(walk, isGone) {
  walk.onsuccess = () => {
    const cursor = walk.result;
    if (!cursor) return;
    if (isGone(cursor.value, String(cursor.primaryKey))) cursor.delete();
    cursor.continue();
  };
}

/** @param {Thread[]} fresh */
async function putRows(fresh) {
  await inStore(["answers", "rows"], "readwrite", (of) => whereHeld(of, (isHeld) => {
    for (const row of fresh) if (isHeld(row.accountId)) of("rows").put(row);
    const count = of("rows").count();
    count.onsuccess = () => {
      if (count.result <= MAX_ROWS * 2) return;
      const known = of("rows").getAll();
      known.onsuccess = () => {
        for (const row of known.result.sort(newestFirst).slice(MAX_ROWS)) of("rows").delete(row.id);
      };
    };
  }));
}

/** Stores a thread; deletes the oldest until there is room. @param {ThreadDetail} fresh */
async function putThread(fresh) {
  const bytes = JSON.stringify(fresh).length * 2;
  if (bytes > MAX_THREAD_BYTES) return;
  await inStore(["answers", "threads", "rows"], "readwrite", (of) => whereHeld(of, (isHeld) => {
    if (!isHeld(fresh.thread.accountId)) return;
    of("rows").put(fresh.thread);
    of("threads").put({ id: fresh.thread.id, keptAt: Date.now(), bytes, detail: fresh });
    const ages = of("threads").index("age").openKeyCursor(null, "prev");
    let sum = 0;
    ages.onsuccess = () => {
      const cursor = ages.result;
      if (!cursor) return;
      sum += /** @type {[number, number]} */ (cursor.key)[1];
      if (sum > MAX_BYTES) of("threads").delete(cursor.primaryKey);
      cursor.continue();
    };
  }));
}

/** The rows, newest first, with the queued acts applied. @returns {Promise<Thread[]>} */
async function rows() {
  const known = /** @type {Thread[]} */ (await all("rows"));
  return known.map(afterAll).sort(newestFirst);
}

/** @param {NonNullable<InputOf<"mail.threads">>} input @returns {Promise<OutputOf<"mail.threads">>} */
async function listed({ section, labelName, accountId = null, only = null }) {
  const source = section ? sectionSource(section, accountId, only) : labelSource(labelName ?? "", accountId, only);
  const threads = (await rows()).filter((one) => source.belongs(one)
    && (accountId === null || one.accountId === accountId));
  return { threads, nextCursor: null };
}

async function snoozed() {
  const found = (await rows()).filter((one) => one.snoozedUntil !== null);
  return found.map((thread) => ({ thread, until: thread.snoozedUntil }));
}

/** @param {string} id @returns {Promise<ThreadDetail | null>} */
async function detail(id) {
  const [known, row] = await Promise.all([get("threads", id), get("rows", id)]);
  return known ? { ...known.detail, thread: afterAll(row ?? known.detail.thread) } : null;
}

/** @param {InputOf<"mail.prepare">} input */
async function prepared({ threadId, kind, messageId }) {
  const known = threadId ? await detail(threadId) : null;
  if (!known) return notHere();
  if (kind === "forward") throw away("Forwarding asks the server, which can’t be reached.");
  const accounts = /** @type {Account[]} */ ((await get("answers", ACCOUNTS)) ?? []);
  const { accountId } = known.thread;
  const signature = await get("answers", keyOf("mail.signature", { accountId }));
  return preparedFrom(known, { kind, messageId: messageId ?? null, accounts,
    signature: signature?.html ?? "" });
}

/** @param {ProcedureName} name @param {any} input @param {any} output */
function withWaiting(name, input, output) {
  if (!queue.value.length) return output;
  if (name === "mail.thread") return { ...output, thread: afterAll(output.thread) };
  if (name !== "mail.threads") return output;
  const threads = output.threads.map(afterAll);
  if (!input?.section) return { ...output, threads };
  const { belongs } = sectionSource(input.section, input.accountId ?? null);
  return { ...output, threads: threads.filter(belongs) };
}

/** @param {Thread} row */
function afterAll(row) {
  return queue.value.reduce((before, { name, input }) => rowAfter(before, name, input), row);
}

/** @param {Thread} one @param {Thread} other */
function newestFirst(one, other) {
  if (one.lastMessageAt !== other.lastMessageAt) return one.lastMessageAt > other.lastMessageAt ? -1 : 1;
  return one.id > other.id ? -1 : 1;
}

/** @param {ProcedureName} name @param {unknown} input */
function keyOf(name, input) {
  return `${name} ${JSON.stringify(input ?? {})}`;
}

/** The keys of all answers of a procedure. @param {ProcedureName} name */
function keysOf(name) {
  return IDBKeyRange.bound(`${name} `, `${name} \uffff`);
}

/** @returns {never} */
function notHere() {
  throw away("It was not read in this browser yet, and the server can’t be reached.");
}

/** @param {string} why */
function away(why) {
  return new RpcError("OFFLINE", why);
}
