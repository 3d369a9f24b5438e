// @ts-check
/**
 * The initial content of an answer, made here while the server can't be reached. The same rules as
 * `svc/mail/sending/answering.py`, but without its knowledge of the providers' spellings of one mailbox and of the
 * servers that a mail passed: the person sees the recipients and From, and sends them unchanged.
 */

import { defaultAddress, isOwn, ownAddressesOf, sentTo } from "../mail/own_addresses.js";

const ANSWERED = /^\s*(?:re|aw|sv|antw|r[eé]p)(?:\[\d+\])?\s*:\s*/i;

/**
 * @param {ThreadDetail} detail
 * @param {{ kind: "reply" | "replyAll", messageId: string | null, accounts: Account[], signature: string }} wanted
 * @returns {Prepared}
 */
export function preparedFrom({ thread, messages }, { kind, messageId, accounts, signature }) {
  const message = messages.find((one) => one.id === messageId) ?? messages.at(-1);
  if (!message) throw new Error("There is no message to answer.");
  const account = accounts.find((one) => one.id === thread.accountId);
  const mine = ownAddressesOf(accounts);
  const { to, cc } = peopleOf(message, mine, kind === "replyAll");
  const subject = message.subject.replace(ANSWERED, "");
  return {
    accountId: thread.accountId, to: to.map(mailbox), cc: cc.map(mailbox), subject: `Re: ${subject}`,
    quote: { messageId: message.id, kind: "reply" }, quotedHtml: message.html, attachments: [], signature,
    fromAddress: account ? answeringAddress(account, message) ?? defaultAddress(account) : "",
  };
}

/**
 * The account's address that the message was sent to, or was sent from.
 * @param {Account} account
 * @param {Message} message
 */
function answeringAddress(account, { own, from, to, cc }) {
  return sentTo(account, [...(own ? [from] : []), ...to, ...cc].map(({ address }) => address));
}

/** @param {Message} message @param {Set<string>} mine @param {boolean} everyone */
function peopleOf(message, mine, everyone) {
  const others = (/** @type {Person[]} */ people) => people.filter(({ address }) => !isOwn(address, mine));
  const answered = others(message.replyTo).length ? message.replyTo : [message.from];
  const sent = message.own || isOwn(message.from.address, mine);
  const to = sent ? message.to : everyone ? [...answered, ...message.to] : answered;
  /** @type {Set<string>} */
  const seen = new Set();
  const once = (/** @type {Person[]} */ people) => others(people).filter(({ address }) =>
    !seen.has(address.toLowerCase()) && seen.add(address.toLowerCase()));
  const found = { to: once(to), cc: everyone ? once(message.cc) : [] };
  return found.to.length ? found : { to: message.to.length ? message.to : [message.from], cc: [] };
}

/** @param {Person} person */
function mailbox({ name, address }) {
  const plain = name.replace(/["\\]/g, "");
  return plain && plain !== address ? `"${plain}" <${address}>` : address;
}
