// @ts-check
/**
 * The search operators, as suggestions while a query is typed. Pure: the caller passes labels and people. The language
 * is the server's: if they differ, `svc/mail/search/language.py` is right.
 */

import { matches } from "./matching.js";

/** @typedef {{ id: string, insert: string, hint: string }} Suggestion */

/** @type {Suggestion[]} */
const OPERATORS = [
  { id: "from:", insert: "from:", hint: "who wrote it" },
  { id: "to:", insert: "to:", hint: "who received it" },
  { id: "subject:", insert: "subject:", hint: "words of the subject" },
  { id: "label:", insert: "label:", hint: "one of your labels" },
  { id: "account:", insert: "account:", hint: "one of your mailboxes" },
  { id: "in:", insert: "in:", hint: "a place: inbox, archive, sent, spam, trash, snoozed, anywhere" },
  { id: "is:", insert: "is:", hint: "unread, read, starred" },
  { id: "has:attachment", insert: "has:attachment ", hint: "with a file" },
  { id: "filename:", insert: "filename:", hint: "words of an attachment’s name" },
  { id: "after:", insert: "after:", hint: "a day, as in 2026-03-31, or 7d" },
  { id: "before:", insert: "before:", hint: "a day, as in 2026-03-31" },
  { id: "-", insert: "-", hint: "without the word that follows" },
  { id: "\"", insert: "\"", hint: "these very words in a row" },
];
/** @type {Record<string, string[]>} */
const VALUES = {
  "in:": ["inbox", "skipped", "archive", "sent", "drafts", "spam", "trash", "snoozed", "anywhere"],
  "is:": ["unread", "read", "starred", "snoozed", "muted"],
  "has:": ["attachment"],
};
const MAX_SHOWN = 8;
/** With fewer letters, and no operator, no people are suggested. */
const MIN_PERSON_CHARS = 2;

/** The word that is being typed: the text after the last space outside of quotation marks. @param {string} text */
export function lastWord(text) {
  const open = (text.match(/"/gu)?.length ?? 0) % 2 === 1;
  const from = open ? text.lastIndexOf("\"") : text.length;
  return text.slice(text.slice(0, from).lastIndexOf(" ") + 1);
}

/**
 * @param {string} text the query so far
 * @param {{ labels: string[], accounts: string[], people: { name: string, address: string }[] }} known
 * @returns {Suggestion[]}
 */
export function suggestions(text, { labels, accounts, people }) {
  const word = lastWord(text);
  const minus = word.startsWith("-") && word.length > 1 ? "-" : "";
  const bare = word.slice(minus.length).toLowerCase();
  const [, operator = "", typed = ""] = /^([a-z]+:)(.*)$/u.exec(bare) ?? [];
  const values = operator === "label:" ? labels : operator === "account:" ? accounts : VALUES[operator];
  if (values) {
    const wanted = typed.replaceAll("\"", "");
    return values
      .filter((one) => one.toLowerCase().includes(wanted) && one.toLowerCase() !== wanted)
      .slice(0, MAX_SHOWN)
      .map((one) => ({ id: `${operator}${one}`, insert: `${minus}${operator}${quoted(one)} `, hint: "" }));
  }
  if (operator === "from:" || operator === "to:") {
    return people.slice(0, MAX_SHOWN)
      .map(({ name, address }) => ({ id: `${operator}${address}`, insert: `${minus}${operator}${address} `, hint: name
        }));
  }
  if (operator) return [];
  if (!bare) return [];
  return [
    ...labels.filter((one) => matches(one, bare)).map((one) => ({ id: `label:${one}`,
      insert: `${minus}label:${quoted(one)} `, hint: "" })),
    ...OPERATORS.filter((one) => matches(`${one.id} ${one.hint}`, bare) && one.id !== bare)
      .map((one) => ({ ...one, insert: minus + one.insert })),
  ];
}

/**
 * The text by which people are searched: the last word, without `from:` or `to:`. After any other operator none are.
 * @param {string} text
 */
export function wantedPerson(text) {
  const word = lastWord(text);
  const value = /^-?(?:from|to):"?(.+)$/iu.exec(word)?.[1];
  return value ?? (/^-|:/u.test(word) || word.length < MIN_PERSON_CHARS ? "" : word.replaceAll("\"", ""));
}

/** @param {string} value */
function quoted(value) {
  return /\s/u.test(value) ? `"${value}"` : value;
}
