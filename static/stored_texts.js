// @ts-check
/**
 * Texts that are not saved yet, stored in this browser, so that a reload, the end of the session or a crash loses
 * nothing. Each is an entry of its own, and belongs to the tab that holds the lock with the entry's name: no other tab
 * offers or takes it. An entry names its person; sign-out deletes the entries of all people.
 */
import { isLeaving } from "./rpc.js";

/** Entries with this name are in browsers already. */
const PREFIX = "svc.left.";
const KEEP_DAYS = 30;

/**
 * @typedef {{ key: string, user: string, at: number }} StoredText `user`: whose it is, "" where nobody signs in
 */

/** Functions that release the locks of this tab, by name. @type {Map<string, () => void>} */
const held = new Map();

/** The texts of one kind. @template {StoredText} Text */
export class StoredTexts {
  /** @param {string} kind */
  constructor(kind) {
    this.prefix = `${PREFIX}${kind}.`;
  }

  /** Stores a text, which is this tab's from now on. Returns whether it is stored. @param {Text} text */
  keep(text) {
    const name = this.prefix + text.key;
    void hold(name);
    const write = () => {
      localStorage.setItem(name, JSON.stringify(text));
      return true;
    };
    return !isLeaving() && (attempt(write) ?? false);
  }

  /** @param {string} key */
  drop(key) {
    const name = this.prefix + key;
    attempt(() => localStorage.removeItem(name));
    held.get(name)?.();
    held.delete(name);
  }

  /** A person's texts that no tab has, newest first. @param {string} user @returns {Promise<Text[]>} */
  async free(user) {
    const taken = await lockedNames();
    const free = namesBelow(this.prefix).filter((name) => !held.has(name) && !taken.has(name));
    const found = free.flatMap((name) => /** @type {Text | null} */ (stored(name)) ?? []);
    return found.filter((one) => one.user === user).sort((one, other) => other.at - one.at);
  }

  /**
   * Makes a text this tab's. Null: it is gone, or another tab has it.
   * @param {string} key
   * @returns {Promise<Text | null>}
   */
  async take(key) {
    const name = this.prefix + key;
    if (held.has(name) || !(await hold(name))) return null;
    const found = /** @type {Text | null} */ (stored(name));
    if (!found) this.drop(key);
    return found;
  }
}

/** Deletes the texts that are too old. */
export function dropOldTexts() {
  namesBelow(PREFIX).forEach(stored);
}

/** Deletes all texts, at sign-out. */
export function forgetStoredTexts() {
  for (const name of namesBelow(PREFIX)) attempt(() => localStorage.removeItem(name));
}

/** @param {string} prefix */
function namesBelow(prefix) {
  return attempt(() => Object.keys(localStorage).filter((name) => name.startsWith(prefix))) ?? [];
}

/** An entry, which is deleted if it is too old. @param {string} name @returns {StoredText | null} */
function stored(name) {
  const found = attempt(() => JSON.parse(localStorage.getItem(name) ?? "null"));
  if (typeof found?.key === "string" && found.at > Date.now() - KEEP_DAYS * 86_400_000) return found;
  attempt(() => localStorage.removeItem(name));
  return null;
}

/**
 * Takes the lock of an entry. Resolves to whether this tab has it. Locks need a secure origin: without them a text may
 * be offered in two tabs, and the server's revision protects what was saved.
 * @param {string} name
 * @returns {Promise<boolean>}
 */
async function hold(name) {
  if (held.has(name)) return true;
  const lasting = new Promise((resolve) => held.set(name, () => resolve(undefined)));
  return new Promise((answer) => {
    const got = (/** @type {Lock | null} */ lock) => {
      if (!lock) held.delete(name);
      answer(lock !== null);
      return lock && lasting;
    };
    if (navigator.locks) navigator.locks.request(name, { ifAvailable: true }, got).catch(() => answer(true));
    else answer(true);
  });
}

/** The locks of all tabs. */
async function lockedNames() {
  const known = await navigator.locks?.query().catch(() => null);
  return new Set(known?.held?.map(({ name }) => name));
}

/** The storage may be full or forbidden: then the result is undefined. @template T @param {() => T} act */
function attempt(act) {
  try {
    return act();
  } catch {
    return undefined;
  }
}
