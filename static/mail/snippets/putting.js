// @ts-check
/** Inserts a snippet into the mail that is being written, and makes a snippet from it. */
import { me } from "../../session.js";
import { accounts } from "../accounts.js";
import { defaultAddress } from "../own_addresses.js";
import { formatMailbox, parseMailboxes, withoutDoubles } from "../compose/addresses.js";
import { SIGNATURE } from "../compose/signature.js";
import { fill, fieldsIn, valuesOf } from "./fields.js";
import { snippets } from "./store.js";

/** @typedef {import("../compose/draft.js").Draft} Draft */
/** @typedef {import("../compose/richtext.js").RichText} RichText */

/**
 * Inserts a snippet at the caret, in place of the `typed` letters before it. Its recipients are added to those of the
 * mail; its subject is used if the mail has none.
 * @param {Draft} draft
 * @param {RichText} editor
 * @param {import("./store.js").Snippet} snippet
 * @param {number} [typed]
 */
export function putIn(draft, editor, snippet, typed = 0) {
  const now = draft.fields.value;
  const join = (/** @type {Person[]} */ there, /** @type {readonly string[]} */ more) =>
    withoutDoubles([...there, ...more.flatMap(parseMailboxes)]);
  const to = join(now.to, snippet.to);
  const values = valuesOf({ to, ...senderOf(now) });
  const [cc, bcc] = [join(now.cc, snippet.cc), join(now.bcc, snippet.bcc)];
  const subject = now.subject.trim() ? now.subject : fill(snippet.subject, values);
  const changed = subject !== now.subject || [snippet.to, snippet.cc, snippet.bcc].some((list) => list.length);
  if (changed) draft.write({ to, cc, bcc, subject });
  editor.insertText(snippet.html, { typed, change: (text) => fill(text, values) });
}

/** The unfilled fields of the person's snippets in these texts. @param {string[]} texts */
export function unfilled(texts) {
  const free = new Set(freeFields());
  return fieldsIn(texts).filter((field) => free.has(field));
}

/** All fields of the person's snippets that have to be filled by hand. */
export function freeFields() {
  return fieldsIn((snippets.value ?? []).flatMap(({ html, subject }) => [html, subject]));
}

/**
 * Makes a snippet from this mail: the person's text without the signature, and the subject, unless it is an answer.
 * @param {import("../compose/wire.js").Fields} fields
 * @param {{ name: string, people: boolean }} wanted `people`: with its recipients
 */
export function snippetOf({ html, subject, replyTo, to, cc, bcc }, { name, people }) {
  const body = new DOMParser().parseFromString(html, "text/html").body;
  for (const one of body.querySelectorAll(`${SIGNATURE}, img`)) one.remove();
  for (const end of /** @type {const} */ (["firstElementChild", "lastElementChild"])) {
    while (body[end] && !body[end]?.textContent?.trim()) body[end]?.remove();
  }
  const lists = people ? { to: to.map(formatMailbox), cc: cc.map(formatMailbox), bcc: bcc.map(formatMailbox) } : {};
  return { name, html: body.innerHTML, subject: replyTo === null ? subject : "", ...lists };
}

/** @param {import("../compose/wire.js").Fields} fields */
function senderOf({ accountId, fromAddress }) {
  const account = accounts.value?.find((one) => one.id === accountId);
  if (!account) return { senderName: "", senderAddress: fromAddress ?? "" };
  const senderAddress = fromAddress ?? defaultAddress(account);
  const own = account.addresses.find(({ address }) => address === senderAddress)?.name;
  return { senderName: own || (account.senderName ?? me.value?.user?.name ?? ""), senderAddress };
}
