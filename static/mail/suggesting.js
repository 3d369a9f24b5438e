// @ts-check
/**
 * The suggestions of the search field, as ordered rows. Pure: the caller passes the browser's data and the server's
 * answers, so that rows appear with the key press, and late ones get their places.
 */
import { listTime } from "../ui/format.js";
import { lastWord, suggestions } from "./operators.js";
import { matches } from "./matching.js";

const MAX_RECENT = 5;
const MAX_PEOPLE = 3;
const MAX_WORDS = 2;
const MAX_MAILS = 5;
const MAX_THINGS = 3;

/**
 * `query`: the text that it puts into the field, so that the person can go on typing. `enter`: it is searched at once.
 * @typedef {object} Row
 * @property {string} id stable as long as the row means the same
 * @property {"go" | "recent" | "chip" | "person" | "word" | "mail" | "page" | "file"} kind
 * @property {string} label
 * @property {string} hint
 * @property {string} [query]
 * @property {boolean} [enter]
 * @property {() => void} [open] opens a thing instead
 */
/** @typedef {{ name: string, address: string, title: string | null }} Writer */
/**
 * @typedef {object} Known
 * @property {string[]} recent
 * @property {string[]} labels
 * @property {string[]} accounts their addresses
 * @property {Writer[]} people
 * @property {Thread[]} mails
 * @property {(thread: Thread) => void} openMail
 * @property {number} nowMs
 * @property {import("../ui/palette.js").Command[]} things pages and files
 */

/** @param {string} text @param {Known} known @returns {Row[]} */
export function suggestionRows(text, known) {
  if (!text.trim()) return [...recentRows(known.recent), ...chipRows(known.accounts.length > 1)];
  const word = lastWord(text);
  const before = text.slice(0, text.length - word.length);
  const words = wordRows(before, text, known);
  if (/^-?[a-z]+:/iu.test(word)) return words;
  return [
    { id: "go", kind: "go", label: text.trim(), hint: "", query: text, enter: true },
    ...(word ? personRows(before, known.people) : []),
    ...words.slice(0, MAX_WORDS),
    ...known.mails.slice(0, MAX_MAILS).map((thread) => mailRow(thread, known)),
    ...thingRows(known.things, "page"),
    ...thingRows(known.things, "file"),
  ];
}

/**
 * The rows to show: while one is marked, it and the rows above it stay, and late rows are added below.
 * @param {Row[]} shown
 * @param {Row[]} wanted
 * @param {string | null} marked its id
 */
export function settled(shown, wanted, marked) {
  const at = marked === null ? -1 : shown.findIndex((row) => row.id === marked);
  if (at < 0) return wanted;
  const kept = shown.slice(0, at + 1);
  const ids = new Set(kept.map((row) => row.id));
  return [...kept, ...wanted.filter((row) => !ids.has(row.id))];
}

/**
 * People with a word in their name or address that begins like this, each address once.
 * @param {Writer[]} people
 * @param {string} word @returns {Writer[]}
 */
export function peopleMatching(people, word) {
  const byAddress = new Map(people.map((one) => [one.address.toLowerCase(), one]));
  return [...byAddress.values()].filter(({ name, address }) => matches(`${name} ${address}`, word));
}

/** @param {string[]} recent @returns {Row[]} */
function recentRows(recent) {
  return recent.slice(0, MAX_RECENT).map((query) => ({ id: `recent ${query}`, kind: "recent", label: query, hint: "",
    query, enter: true }));
}

/** @param {boolean} hasAccounts @returns {Row[]} */
function chipRows(hasAccounts) {
  const chip = (/** @type {string} */ label, /** @type {string} */ query) => (
    /** @type {Row} */ ({ id: `chip ${query}`, kind: "chip", label, hint: "", query }));
  return [
    chip("From", "from:"),
    chip("Attachment", "has:attachment "),
    chip("7 days", "newer_than:7d "),
    chip("Unread", "is:unread "),
    ...(hasAccounts ? [chip("Account", "account:")] : []),
    chip("Place", "in:"),
  ];
}

/** @param {string} before @param {Writer[]} people @returns {Row[]} */
function personRows(before, people) {
  return people.slice(0, MAX_PEOPLE).map(({ name, address, title }) => ({
    id: `person ${address}`, kind: "person", label: title || name || address, hint: address,
    query: `${before}from:${address} `,
  }));
}

/** Operators and their values. @param {string} before @param {string} text @param {Known} known @returns {Row[]} */
function wordRows(before, text, known) {
  return suggestions(text, known).map(({ id, insert, hint }) => ({ id: `word ${id}`, kind: "word", label: id, hint,
    query: before + insert }));
}

/** @param {Thread} thread @param {Known} known @returns {Row} */
function mailRow(thread, { openMail, nowMs }) {
  const { name, address, title } = thread.sender;
  return { id: `mail ${thread.id}`, kind: "mail", label: thread.subject || "(no subject)",
    hint: `${title || name || address}, ${listTime(thread.lastMessageAt, nowMs)}`, open: () => openMail(thread) };
}

/** @param {import("../ui/palette.js").Command[]} things @param {"page" | "file"} kind @returns {Row[]} */
function thingRows(things, kind) {
  return things.filter((one) => one.thing === kind).slice(0, MAX_THINGS)
    .map(({ id, label, hint, run }) => ({ id: `${kind} ${id}`, kind, label, hint: hint ?? "", open: run }));
}
