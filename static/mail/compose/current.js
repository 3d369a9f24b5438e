// @ts-check
/**
 * The one message that is being written, and where it stands: under the message that it answers, or in the window.
 *
 * Owns these signals. The keys of the page rest while the window is open; under a message they rest while the keyboard
 * is in the answer, so that the thread around it can be walked.
 */
import { computed, signal } from "@preact/signals";

/**
 * What is answered; `messageId` is null where only the thread is known.
 * @typedef {{ threadId: string, messageId: string | null }} About
 */
/**
 * @typedef {object} Composition
 * @property {import("./draft.js").Draft} draft
 * @property {"to" | "body"} focus where writing begins
 * @property {string} title for the window's head
 * @property {boolean} [unsigned] whether the account's signature is still to be put in, once it is known
 * @property {About | null} about what it answers or forwards
 * @property {import("../../files/uploads.js").Uploads} uploads
 * @property {import("./richtext.js").Caret | null} [caret] where writing goes on, in another place
 * @property {(sendAt?: string, archive?: boolean) => Promise<void>} [send] where it is shown
 * @property {() => void} [sendLater] asks when
 * @property {(snippet: import("../snippets/store.js").Snippet) => void} [putSnippet] at the caret
 * @property {() => void} [chooseSnippet] asks which
 * @property {import("../snippets/store.js").Snippet | null} [snippet] it begins with, once the editor is there
 * @property {boolean} [entering] it is to take the keyboard as soon as it stands there
 */
/** @typedef {"window" | "inline"} Place */

export const composition = signal(/** @type {Composition | null} */ (null));
export const place = signal(/** @type {Place} */ ("window"));
/** What it opens with is under way. */
export const preparing = signal(false);
export const minimised = signal(false);
/** The window takes all of the screen. */
export const full = signal(false);
/** Whether the keyboard is in the answer under a message. */
export const inside = signal(false);

/** Whoever writes has the keyboard. */
export const composing = computed(() => preparing.value || (composition.value !== null
  && (place.value === "inline" ? inside.value : !minimised.value)));

/** What is written in the open thread, if anything. @param {string} threadId */
export function inlineIn(threadId) {
  const current = composition.value;
  return place.value === "inline" && current?.about?.threadId === threadId ? current : null;
}
