// @ts-check
/** The content of the compose window, and its conversion to and from the server's form. Pure. */
import { formatMailbox, parseMailboxes } from "./addresses.js";

/**
 * @typedef {object} Fields
 * @property {string} accountId
 * @property {Person[]} to
 * @property {Person[]} cc
 * @property {Person[]} bcc
 * @property {string} subject
 * @property {string} html the person's text, with the signature, without the quoted message
 * @property {OutgoingFile[]} attachments
 * @property {string | null} replyTo the thread that is answered
 * @property {Quote | null} quote
 * @property {string | null} [fromAddress] the chosen address; else the account's default
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
