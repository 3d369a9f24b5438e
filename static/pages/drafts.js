// @ts-check
/**
 * Unsaved texts, by path. They are kept when the person goes to another page, and stored in this browser, so that a
 * reload, the end of the session or a crash loses nothing.
 *
 * A text belongs to the tab that holds a lock with its name: meanwhile no other tab takes it over. Each person has
 * their own; sign-out deletes all. If the browser stores nothing for us, it warns before the tab closes.
 */
import { isLeaving } from "../rpc.js";
import { me } from "../session.js";

const PREFIX = "svc.page.";
const KEEP_DAYS = 30;
const STORE_AFTER_MS = 250;

/**
 * @typedef {{ title: string, body: string, revision: number }} Draft `revision`: the one it began with, 0 for no page
 */

/** @type {Map<string, Draft>} */
const drafts = new Map();
/** The paths whose newest text is not stored. @type {Set<string>} */
const behind = new Set();
/** Functions that release the locks, by path. @type {Map<string, () => void>} */
const held = new Map();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

addEventListener("beforeunload", (event) => {
  if (!store()) event.preventDefault(); // the browser asks the person
});
addEventListener("pagehide", store);

/** @param {string} path */
export function draftOf(path) {
  return drafts.get(path) ?? null;
}

/**
 * @param {string} path
 * @param {Draft} draft
 */
export function keepDraft(path, draft) {
  drafts.set(path, draft);
  behind.add(path);
  hold(path);
  timer ??= setTimeout(store, STORE_AFTER_MS);
}

/** @param {string} path */
export function dropDraft(path) {
  drafts.delete(path);
  behind.delete(path);
  attempt(() => localStorage.removeItem(keyOf(path)));
  held.get(path)?.();
  held.delete(path);
}

/**
 * Takes over a text that was left in this browser, unless another tab has it. Resolves to whether there is one now.
 * Called once the signed-in person is known.
 * @param {string} path
 */
export async function takeLeft(path) {
  const left = drafts.has(path) ? null : stored(keyOf(path));
  if (left && !(await heldElsewhere()).has(keyOf(path)) && !drafts.has(path)) keepDraft(path, left);
  return drafts.has(path);
}

/** The paths of all texts that are not saved, but for those of other tabs. */
export async function unsaved() {
  const start = keyOf("");
  const taken = await heldElsewhere();
  const keys = attempt(() => Object.keys(localStorage)) ?? [];
  const left = keys.filter((key) => key.startsWith(start) && !taken.has(key) && stored(key));
  return [...new Set([...drafts.keys(), ...left.map((key) => key.slice(start.length))])].sort();
}

/** Deletes the texts of all people, at sign-out. */
export function forgetDrafts() {
  for (const path of [...drafts.keys()]) dropDraft(path);
  attempt(() => {
    for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
  });
}

/** Stores what is not stored. Returns whether everything is. */
function store() {
  clearTimeout(timer);
  timer = undefined;
  for (const path of [...behind]) {
    const whole = JSON.stringify({ ...drafts.get(path), at: Date.now() });
    const done = !isLeaving() && attempt(() => {
      localStorage.setItem(keyOf(path), whole);
      return true;
    });
    if (done) behind.delete(path);
  }
  return behind.size === 0;
}

/** The text under a key, unless it is too old. @param {string} key @returns {Draft | null} */
function stored(key) {
  const found = attempt(() => JSON.parse(localStorage.getItem(key) ?? "null"));
  if (typeof found?.body !== "string" || !(found.at > Date.now() - KEEP_DAYS * 86_400_000)) {
    attempt(() => localStorage.removeItem(key));
    return null;
  }
  return { title: String(found.title ?? ""), body: found.body, revision: Number(found.revision) || 0 };
}

/** @param {string} path */
function hold(path) {
  if (held.has(path)) return;
  const lasting = new Promise((resolve) => held.set(path, () => resolve(undefined)));
  void navigator.locks?.request(keyOf(path), { ifAvailable: true }, () => lasting).catch(() => undefined);
}

/** The locks of other tabs. Locks need a secure origin; without them the page's revision protects what was saved. */
async function heldElsewhere() {
  const known = await navigator.locks?.query().catch(() => null);
  const mine = new Set([...held.keys()].map(keyOf));
  return new Set((known?.held ?? []).map(({ name = "" }) => name).filter((name) => !mine.has(name)));
}

/** @param {string} path */
function keyOf(path) {
  return `${PREFIX}${me.value?.user?.id ?? ""}.${path}`;
}

/** The storage may be full or forbidden: then the result is undefined. @template T @param {() => T} act */
function attempt(act) {
  try {
    return act();
  } catch {
    return undefined;
  }
}
