// @ts-check
/**
 * Signatures: one an account, fetched once, put below one's own words and swapped with the account.
 *
 * In the editor the signature stands in a block that carries `data-signature`, so that it is found again.
 */
import { signal } from "@preact/signals";
import { mutate, query } from "../../rpc.js";

export const SIGNATURE = "[data-signature]";

/** Null while it is not known. @type {Map<string, import("@preact/signals").Signal<string | null>>} */
const signatures = new Map();

/** Asks for it the first time. @param {string} accountId */
export function signatureOf(accountId) {
  let found = signatures.get(accountId);
  if (!found) {
    found = signal(/** @type {string | null} */ (null));
    signatures.set(accountId, found);
    fetchSignature(accountId).catch(() => undefined); // then mail goes without: the person sees that
  }
  return found;
}

/** @param {string} accountId */
export async function fetchSignature(accountId) {
  const { html } = await query("mail.signature", { accountId });
  const found = signatureOf(accountId);
  if (found.value !== html) found.value = html;
}

/**
 * @param {string} accountId
 * @param {string} html
 */
export async function saveSignature(accountId, html) {
  await mutate("mail.setSignature", { accountId, html });
  await fetchSignature(accountId);
}

/** A body with room to write, and the signature below. @param {string} signature */
export function bodyWith(signature) {
  const room = "<div><br></div>";
  return signature ? `${room}${room}<div data-signature="1">${signature}</div>` : room;
}
