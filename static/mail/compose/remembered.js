// @ts-check
/**
 * This browser's copies of the messages that are being written, to offer them after a crash or a restart: the id of the
 * draft and, until the server has confirmed it, the text.
 *
 * Each open window has its own entry and holds a lock with the entry's name: an entry whose lock another tab holds
 * belongs to that tab. Signing out clears the store with all other data of this origin.
 */
import { isLeaving } from "../../rpc.js";

const PREFIX = "svc.compose.";
const KEEP_DAYS = 30;
const MAX_CHARS = 1_000_000;

/**
 * @typedef {{ key: string, at: number, user: string, id: string | null, version: number | null, fields:
 * import("./wire.js").Fields | null, subject: string, making?: import("./draft.js").Making | null }} Remembered
 */

/** Functions that release the locks. @type {Map<string, () => void>} */
const held = new Map();
let owner = "";

/** Sets the owner of the entries: an address, or "" while nobody is signed in. @param {string} user */
export function rememberFor(user) {
  owner = user;
}

/** @param {import("./draft.js").Draft} draft */
export function remember(draft) {
  if (isLeaving()) return;
  const unsaved = draft.changes !== draft.saved;
  const fields = draft.fields.value;
  /** @type {Remembered} */
  const entry = {
    key: draft.key, at: Date.now(), user: owner, id: draft.id, version: draft.version, subject: fields.subject,
    fields: unsaved ? fields : null,
  };
  const whole = JSON.stringify({ ...entry, making: draft.making });
  const text = whole.length <= MAX_CHARS ? whole : JSON.stringify(entry);
  try {
    if (text.length <= MAX_CHARS) localStorage.setItem(PREFIX + draft.key, text);
  } catch {
    // The storage is full or forbidden: only the server's draft remains.
  }
  hold(draft.key);
}

/** @param {string} key */
export function forget(key) {
  try {
    localStorage.removeItem(PREFIX + key);
  } catch {
    // Then nothing was stored either.
  }
  held.get(key)?.();
  held.delete(key);
}

/** The messages of windows that are gone, newest first; deletes old entries. */
export async function leftOpen() {
  const taken = await lockedElsewhere();
  const found = entries().filter((one) => one.user === owner && !taken.has(PREFIX + one.key) && !held.has(one.key));
  return found.sort((one, other) => other.at - one.at);
}

/** @returns {Remembered[]} */
function entries() {
  const oldest = Date.now() - KEEP_DAYS * 86_400_000;
  try {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));
    return keys.flatMap((key) => {
      const entry = parse(localStorage.getItem(key));
      if (entry && entry.at > oldest) return [entry];
      localStorage.removeItem(key);
      return [];
    });
  } catch {
    return [];
  }
}

/** @param {string | null} text @returns {Remembered | null} */
function parse(text) {
  try {
    const entry = JSON.parse(text ?? "null");
    return typeof entry?.key === "string" && typeof entry.at === "number" ? entry : null;
  } catch {
    return null;
  }
}

/**
 * The locks of other tabs. Locks need a secure origin; without them another tab's message may be offered, and its
 * version protects it.
 */
async function lockedElsewhere() {
  const known = await navigator.locks?.query().catch(() => null);
  return new Set(known?.held?.map((lock) => lock.name));
}

/** @param {string} key */
function hold(key) {
  if (held.has(key)) return;
  const lasting = new Promise((resolve) => held.set(key, () => resolve(undefined)));
  void navigator.locks?.request(PREFIX + key, { ifAvailable: true }, () => lasting).catch(() => undefined);
}
