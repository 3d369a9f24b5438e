// @ts-check
/** The checks before a message is sent: errors that prevent it, and warnings. Pure. */
import { MAX_RECIPIENTS, isAddress } from "./addresses.js";
import { plural } from "../../ui/format.js";
import { SIGNATURE } from "./signature.js";

/** From this number on a warning says that all recipients see each other's addresses. */
const MANY_RECIPIENTS = 25;
/** The server's limits, so that the person sees them while the window is open. */
const MAX_ATTACHED_BYTES = 25 * 1024 * 1024;
const MAX_ATTACHMENTS = 100;
const MAX_CHECKED_CHARS = 50_000;

/** Whole words that promise an attachment, in the languages of the users. */
const PROMISES = new RegExp(
  "(?<![\\p{L}\\p{N}])(?:" +
    [
      "attach(?:ed|ing|ments?)?|enclosed|enclosures?", // English
      "anbei|angehängt|anhang|anhänge|beigefügt|beigelegt|in der anlage|als anlage", // German
      "pièces? jointes?|ci-joint(?:e|s|es)?|en annexe", // French
      "adjunt[oa]s?|adjuntamos", // Spanish
      "in allegato|allegat[oaie]|allego", // Italian
      "em anexo|anexos?|anexad[oa]s?", // Portuguese
      "bijlagen?|bijgevoegd(?:e)?|bijgaand", // Dutch
      "bifoga(?:d|t|r|de)?|vedhæftet|vedhæfter|vedlagt|vedlegg|liitteenä|liite", // Swedish, Danish, Norwegian, Finnish
      "w załączeniu|załączam|załącznik(?:u|i)?|v příloze|přikládám|příloh[auy]", // Polish, Czech
      "во вложении|прикрепляю|прилагаю|у вкладенні|додаю", // Russian, Ukrainian
      "συνημμέν(?:ο|α|ως)|επισυνάπτω|ekteki|ekte|ekli", // Greek, Turkish
    ].join("|") +
    ")(?![\\p{L}\\p{N}])|添付|附件|첨부",
  "iu",
);

/** @typedef {{ stops: boolean, text: string }} Finding `stops`: the message can't be sent like this */

/**
 * @param {import("./wire.js").Fields} fields
 * @param {{ uploading: number, signature: string | null, unfilled: string[] }} state `uploading`: files still under
 * way; `signature`: the account's; `unfilled`: the fields of snippets that are still in it
 * @returns {Finding[]}
 */
export function findings(fields, { uploading, signature, unfilled }) {
  const people = [...fields.to, ...fields.cc, ...fields.bcc];
  const wrong = people.filter(({ address }) => !isAddress(address));
  const seen = fields.to.length + fields.cc.length;
  const words = ownText(fields.html, signature);
  /** @type {[boolean, boolean, string][]} */
  const rows = [
    [!people.length, true, "It needs at least one recipient."],
    [wrong.length > 0, true, `${wrong.slice(0, 3).map(({ address }) => `“${address}”`).join(", ")} ${wrong.length === 1
      ? "is not a mail address" : "are not mail addresses"}.`],
    [people.length > MAX_RECIPIENTS, true, `At most ${MAX_RECIPIENTS} recipients, and these are ${people.length}.`],
    [uploading > 0, true, `${plural(uploading, "file")} still on the way.`],
    [attachedBytes(fields) > MAX_ATTACHED_BYTES, true,
      "The attachments are larger than a mail can carry (25 MiB together)."],
    [fields.attachments.length > MAX_ATTACHMENTS, true,
      `At most ${MAX_ATTACHMENTS} files, and these are ${fields.attachments.length}.`],
    [unfilled.length > 0, false, `There is something to fill in still: ${unfilled.join(", ")}.`],
    [!fields.subject.trim(), false, "It has no subject."],
    [!words.trim() && !fields.attachments.length && !fields.quote, false, "It has no text."],
    [!fields.attachments.length && PROMISES.test(`${fields.replyTo === null ? fields.subject : ""}\n${words}`), false,
      "You write of an attachment, and there is none."],
    [seen >= MANY_RECIPIENTS, false, `${seen} people will see each other’s addresses. In Bcc they would not.`],
  ];
  return rows.filter(([holds]) => holds).map(([, stops, text]) => ({ stops, text }));
}

/** @param {{ attachments: OutgoingFile[] }} fields */
export function attachedBytes({ attachments }) {
  return attachments.reduce((sum, one) => sum + one.size, 0);
}

/**
 * The person's own text: without the quotation, and without the signature, unless they wrote into it.
 * @param {string} html
 * @param {string | null} signature
 */
export function ownText(html, signature) {
  const body = parse(html);
  for (const block of body.querySelectorAll(SIGNATURE)) {
    if (signature === null || words(block) === words(parse(signature))) block.remove();
  }
  for (const foreign of body.querySelectorAll("blockquote")) foreign.remove();
  for (const block of body.querySelectorAll("div, p, li, br")) block.append("\n");
  return (body.textContent ?? "").slice(0, MAX_CHECKED_CHARS);
}

/** @param {string} html */
function parse(html) {
  return new DOMParser().parseFromString(html.slice(0, MAX_CHECKED_CHARS * 4), "text/html").body;
}

/** @param {Element} element */
function words(element) {
  return (element.textContent ?? "").replace(/\s+/g, " ").trim();
}
