// @ts-check
/**
 * The quoted originals, for the eyes: the server appends them itself when the message goes out. Kept by message, so
 * that a window that comes back (after Undo, from Drafts) shows the same.
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

/** Null while it is on its way. @param {Quote} quote */
export function quoted(quote) {
  return entry(quote);
}

/** Fetch a quote that is not known yet. @param {Quote} quote */
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
  known.set(key, found); // the one asked for last stands last
  for (const old of known.keys()) {
    if (known.size <= MAX_KEPT) break;
    known.delete(old);
  }
  return found;
}
