// @ts-check
/** What stands in the compose window, and how it is written for the server and read back. Pure. */
import { formatMailbox, parseMailboxes } from "./addresses.js";

/**
 * @typedef {object} Fields
 * @property {string} accountId
 * @property {Person[]} to
 * @property {Person[]} cc
 * @property {Person[]} bcc
 * @property {string} subject
 * @property {string} html one's own words, with the signature, without the quoted message
 * @property {OutgoingFile[]} attachments
 * @property {string | null} replyTo the thread that is answered
 * @property {Quote | null} quote
 * @property {string | null} [fromAddress] as it was chosen; else the account's default
 */

/** @param {string} accountId @returns {Fields} */
export function blankFields(accountId) {
  return { accountId, to: [], cc: [], bcc: [], subject: "", html: "", attachments: [], replyTo: null, quote: null,
    fromAddress: null };
}

/** @param {Fields} fields @returns {Omit<MailSendInput, "sendAt" | "draftId" | "draftVersion">} */
export function toWire({ accountId, to, cc, bcc, subject, html, attachments, replyTo, quote, fromAddress }) {
  return {
    accountId,
    to: to.map(formatMailbox),
    cc: cc.map(formatMailbox),
    bcc: bcc.map(formatMailbox),
    subject,
    html,
    attachments: attachments.map((one) => one.fileId),
    ...(replyTo !== null && { replyTo }),
    ...(quote && { quote }),
    ...(fromAddress && { fromAddress }),
  };
}

/** @param {DraftDetail} draft @returns {Fields} */
export function fromDraft({ accountId, to, cc, bcc, subject, html, attachments, replyTo, quote, fromAddress }) {
  return { accountId, to: people(to), cc: people(cc), bcc: people(bcc), subject, html, attachments, replyTo, quote,
    fromAddress };
}

/**
 * @param {Prepared} prepared
 * @param {string | null} replyTo
 * @returns {Fields}
 */
export function fromPrepared({ accountId, to, cc, subject, quote, attachments, fromAddress }, replyTo) {
  return { ...blankFields(accountId), to: people(to), cc: people(cc), subject, attachments, replyTo, quote,
    fromAddress };
}

/** @param {string[]} mailboxes */
function people(mailboxes) {
  return mailboxes.flatMap(parseMailboxes);
}
