// @ts-check
/**
 * The unsaved texts of this tab, by path. They stay when the person goes to another page, and are stored in this
 * browser (left.js). While one is not stored, since the browser stores nothing for us or the signed-in person is not
 * known yet, the browser warns before the tab closes.
 */
import { effect } from "@preact/signals";
import { LeftTexts } from "../left.js";
import { isLeaving, newIdempotencyKey } from "../rpc.js";
import { me } from "../session.js";

const STORE_AFTER_MS = 250;

/**
 * @typedef {{ title: string, body: string, revision: number }} Draft `revision`: the one it began with, 0 for no page
 */

/** @type {LeftTexts<import("../left.js").Left & Draft & { path: string }>} */
const left = new LeftTexts("page");
/** `key`: of the stored text. @type {Map<string, { key: string, draft: Draft }>} */
const drafts = new Map();
/** The paths whose newest text is not stored. @type {Set<string>} */
const behind = new Set();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

effect(() => {
  if (personId() !== null) store();
});
addEventListener("beforeunload", (event) => {
  if (!store() && !isLeaving()) event.preventDefault(); // the browser asks the person
});
addEventListener("pagehide", store);

/** Whose texts they are: "" where nobody signs in, null: not known yet. */
export function personId() {
  return me.value && (me.value.user?.id ?? "");
}

/** @param {string} path */
export function draftOf(path) {
  return drafts.get(path)?.draft ?? null;
}

/**
 * @param {string} path
 * @param {Draft} draft
 */
export function keepDraft(path, draft) {
  drafts.set(path, { key: drafts.get(path)?.key ?? newIdempotencyKey(), draft });
  behind.add(path);
  timer ??= setTimeout(store, STORE_AFTER_MS);
}

/** @param {string} path */
export function dropDraft(path) {
  const text = drafts.get(path);
  drafts.delete(path);
  behind.delete(path);
  if (text) left.drop(text.key);
}

/**
 * Takes over the newest text of a path that was left in this browser, unless this tab has one. Resolves to whether it
 * did.
 * @param {string} path
 */
export async function takeLeft(path) {
  const found = drafts.has(path) ? [] : await free();
  for (const { key } of found.filter((one) => one.path === path)) {
    const text = drafts.has(path) ? null : await left.take(key);
    if (!text || drafts.has(path)) continue;
    const { title, body, revision } = text;
    drafts.set(path, { key, draft: { title, body, revision } });
    return true;
  }
  return false;
}

/** The paths of all texts that are not saved, but for those of other tabs. */
export async function unsaved() {
  return [...new Set([...drafts.keys(), ...(await free()).map(({ path }) => path)])].sort();
}

async function free() {
  const user = personId();
  return user === null ? [] : left.free(user);
}

/** Stores what is not stored. Returns whether everything is. */
function store() {
  clearTimeout(timer);
  timer = undefined;
  const user = personId();
  for (const path of [...behind]) {
    const text = drafts.get(path);
    if (text && user !== null && left.keep({ ...text.draft, key: text.key, user, path, at: Date.now() })) {
      behind.delete(path);
    }
  }
  return behind.size === 0;
}
