// @ts-check
/** The person's snippets: texts that are inserted into mail by name. Owns the one list of them in this window. */
import { signal } from "@preact/signals";
import { mutate, query } from "../../rpc.js";

/** @typedef {MailSnippetOut} Snippet */

/** Null until they are fetched for the first time. @type {import("@preact/signals").Signal<Snippet[] | null>} */
export const snippets = signal(/** @type {Snippet[] | null} */ (null));

/** Fetches the snippets unless they are loaded. */
export async function wantSnippets() {
  if (snippets.value === null) await loadSnippets();
}

export async function loadSnippets() {
  snippets.value = await query("mail.snippets");
}

/**
 * Fetches the snippets again: another window changed them, or an event may have been missed. Does nothing if they were
 * never fetched.
 */
export function refetchSnippets() {
  if (snippets.value !== null) void loadSnippets().catch(() => undefined);
}

/** @param {InputOf<"mail.saveSnippet">} snippet */
export async function saveSnippet(snippet) {
  await mutate("mail.saveSnippet", snippet);
  await loadSnippets();
}

/** @param {string} id */
export async function deleteSnippet(id) {
  await mutate("mail.deleteSnippet", { id });
  await loadSnippets();
}
