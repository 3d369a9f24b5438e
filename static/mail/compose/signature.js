// @ts-check
/**
 * Signatures: one per account, fetched once, inserted below the text and replaced when the account changes.
 *
 * In the editor the signature is in a block with the attribute `data-signature`, so that it can be found again.
 */
import { signal } from "@preact/signals";
import { mutate, query } from "../../rpc.js";

export const SIGNATURE = "[data-signature]";

/**
 * The signature by account; null while it is not known.
 * @type {Map<string, import("@preact/signals").Signal<string | null>>}
 */
const signatures = new Map();

/** The signature of an account; fetched at the first call. @param {string} accountId */
export function signatureOf(accountId) {
  let found = signatures.get(accountId);
  if (!found) {
    found = signal(/** @type {string | null} */ (null));
    signatures.set(accountId, found);
    fetchSignature(accountId).catch(() => undefined); // the mail then has no signature, and the person sees that
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

/** An empty body, with the signature below. @param {string} signature */
export function bodyWith(signature) {
  const room = "<div><br></div>";
  return signature ? `${room}${room}<div data-signature="1">${signature}</div>` : room;
}
