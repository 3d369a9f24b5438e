// @ts-check
/**
 * This browser's data of one person: a database of IndexedDB. This module wraps it in promises, and does not know what
 * the records mean. If another tab deletes the database, this one closes it and stores nothing from then on.
 */

const NAME = "svc-offline";
const VERSION = 1;

/** @typedef {"facts" | "rows" | "threads" | "answers" | "queue"} Table */

/** @type {Promise<IDBDatabase> | null} */
let opened = null;

function database() {
  opened ??= new Promise((resolve, reject) => {
    const asked = indexedDB.open(NAME, VERSION);
    asked.onupgradeneeded = () => {
      const db = asked.result;
      db.createObjectStore("facts");
      db.createObjectStore("rows", { keyPath: "id" });
      db.createObjectStore("threads", { keyPath: "id" }).createIndex("age", ["keptAt", "bytes"]);
      db.createObjectStore("answers");
      db.createObjectStore("queue", { keyPath: "seq", autoIncrement: true });
    };
    asked.onsuccess = () => {
      asked.result.onversionchange = () => asked.result.close();
      resolve(asked.result);
    };
    asked.onerror = () => reject(asked.error);
  });
  return opened;
}

/**
 * One transaction. `work` sends requests to the tables and must not wait for anything else; it returns the value, or
 * the request whose result is the value. Resolves once it is stored.
 * @template T
 * @param {Table[]} tables
 * @param {"readonly" | "readwrite"} mode
 * @param {(table: (name: Table) => IDBObjectStore) => IDBRequest<T> | T} work
 * @returns {Promise<T>}
 */
export async function inStore(tables, mode, work) {
  const db = await database();
  return new Promise((resolve, reject) => {
    const transaction = db.transaction(tables, mode);
    const given = work((name) => transaction.objectStore(name));
    transaction.oncomplete = () => resolve(given instanceof IDBRequest ? given.result : given);
    transaction.onabort = () => reject(transaction.error ?? new Error("This browser could not keep it."));
  });
}

/** @param {Table} table @param {IDBValidKey} key @returns {Promise<any>} undefined where there is none */
export function get(table, key) {
  return inStore([table], "readonly", (of) => of(table).get(key));
}

/** @param {Table} table @returns {Promise<any[]>} in the order of their keys */
export function all(table) {
  return inStore([table], "readonly", (of) => of(table).getAll());
}

/** @param {Table[]} tables */
export function clear(...tables) {
  return inStore(tables, "readwrite", (of) => tables.forEach((table) => of(table).clear()));
}

/** Deletes the whole database. */
export async function dropStore() {
  const db = await opened?.catch(() => null);
  db?.close();
  opened = null;
  await new Promise((resolve) => {
    const asked = indexedDB.deleteDatabase(NAME);
    asked.onsuccess = asked.onerror = () => resolve(undefined);
  });
}
