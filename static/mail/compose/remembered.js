// @ts-check
/**
 * This browser's copies of the messages that are being written, to offer them after a crash or a restart: the id of the
 * draft and, until the server has confirmed it, the text. Each open window has its own (stored_texts.js).
 */
import { StoredTexts } from "../../stored_texts.js";

const MAX_CHARS = 1_000_000;

/**
 * @typedef {{ key: string, at: number, user: string, id: string | null, version: number | null, fields:
 * import("./wire.js").Fields | null, subject: string, making?: import("./draft.js").Making | null }} Remembered
 */

/** @type {StoredTexts<Remembered>} */
const texts = new StoredTexts("message");
let owner = "";

/** Sets the owner of the entries: an address, or "" while nobody is signed in. @param {string} user */
export function rememberFor(user) {
  owner = user;
}

/** @param {import("./draft.js").Draft} draft */
export function remember(draft) {
  const unsaved = draft.changes !== draft.saved;
  const fields = draft.fields.value;
  /** @type {Remembered} */
  const entry = {
    key: draft.key, at: Date.now(), user: owner, id: draft.id, version: draft.version, subject: fields.subject,
    fields: unsaved ? fields : null,
  };
  const whole = { ...entry, making: draft.making };
  const fits = [whole, entry].find((one) => JSON.stringify(one).length <= MAX_CHARS);
  if (fits) texts.keep(fits); // else, or if the browser stores nothing for us, only the server's draft remains
}

/** @param {string} key */
export function forget(key) {
  texts.drop(key);
}

/** The messages of windows that are gone, newest first. */
export function leftOpen() {
  return texts.free(owner);
}
