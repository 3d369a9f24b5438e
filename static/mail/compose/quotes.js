// @ts-check
/**
 * The quoted originals, for display only: the server appends them itself when it sends the message. Cached by message,
 * so that a window that opens again (after Undo, from Drafts) shows the same.
 */
import { signal } from "@preact/signals";
import { query } from "../../rpc.js";

const MAX_KEPT = 20;

/** @typedef {{ html: string, problem: string }} Quoted */

/** @type {Map<string, import("@preact/signals").Signal<Quoted | null>>} */
const known = new Map();

/**
 * @param {Quote} quote
 * @param {string} html
 */
export function rememberQuote(quote, html) {
  entry(quote).value = { html, problem: "" };
}

/** The quote; null while it is being fetched. @param {Quote} quote */
export function quoted(quote) {
  return entry(quote);
}

/** Returns a quote, and fetches it if it is not cached. @param {Quote} quote */
export async function quotedHtmlOf(quote) {
  const shown = entry(quote);
  if (shown.value && !shown.value.problem) return;
  try {
    const prepared = await query("mail.prepare", { messageId: quote.messageId, kind: quote.kind });
    shown.value = { html: prepared.quotedHtml, problem: "" };
  } catch (error) {
    shown.value = { html: "", problem: `It can’t be shown now: ${error instanceof Error ? error.message : error}` };
  }
}

/** @param {Quote} quote */
function entry({ messageId, kind }) {
  const key = `${kind} ${messageId}`;
  let found = known.get(key);
  if (found) known.delete(key);
  else found = signal(/** @type {Quoted | null} */ (null));
  known.set(key, found); // the most recently used is last
  for (const old of known.keys()) {
    if (known.size <= MAX_KEPT) break;
    known.delete(old);
  }
  return found;
}
