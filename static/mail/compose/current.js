// @ts-check
/**
 * The one message that is being written, and its place: under the message that it answers, or in the window.
 *
 * Owns these signals. The page's keys are off while the window is open. Under a message they are off only while the
 * focus is in the answer, so that the thread around it can be navigated.
 */
import { computed, signal } from "@preact/signals";

/**
 * What the message answers; `messageId` is null if only the thread is known.
 * @typedef {{ threadId: string, messageId: string | null }} About
 */
/**
 * @typedef {object} Composition
 * @property {import("./draft.js").Draft} draft
 * @property {"to" | "body"} focus where the focus goes first
 * @property {string} title of the window
 * @property {boolean} [unsigned] whether the account's signature has to be inserted once it is known
 * @property {About | null} about what it answers or forwards
 * @property {import("../../files/uploads.js").Uploads} uploads
 * @property {import("./richtext.js").Caret | null} [caret] the caret, to restore it when the editor moves
 * @property {(sendAt?: string, archive?: boolean) => Promise<void>} [send] set while it is shown
 * @property {() => void} [sendLater] asks when
 * @property {(snippet: import("../snippets/store.js").Snippet) => void} [putSnippet] at the caret
 * @property {() => void} [chooseSnippet] asks which
 * @property {import("../snippets/store.js").Snippet | null} [snippet] to insert once the editor is ready
 * @property {boolean} [entering] whether it takes the focus as soon as it is shown
 * @property {import("@preact/signals").Signal<string>} problem why it was not sent, wherever it is shown meanwhile
 * @property {Promise<unknown> | null} [handing] it is on its way to the server, which sends it; never rejects
 */
/** @typedef {"window" | "inline"} Place */

export const composition = signal(/** @type {Composition | null} */ (null));
export const place = signal(/** @type {Place} */ ("window"));
/** Whether a message is being opened: a second one does not begin meanwhile. */
export const opening = signal(false);
/** How many contents for a message are being fetched. */
export const fetching = signal(0);
/** Whether the content for a message is being fetched: what is typed meanwhile goes into it. */
export const preparing = computed(() => fetching.value > 0);
export const minimised = signal(false);
/** Whether the window fills the screen. */
export const full = signal(false);
/** Whether the focus is in the answer under a message. */
export const inside = signal(false);

/** Whether the keys belong to the message that is being written. */
export const composing = computed(() => preparing.value || (composition.value !== null
  && (place.value === "inline" ? inside.value : !minimised.value)));

/** The answer that is being written in the thread, if any. @param {string} threadId */
export function inlineIn(threadId) {
  const current = composition.value;
  return place.value === "inline" && current?.about?.threadId === threadId ? current : null;
}
