// @ts-check
/**
 * The words of a query, for the chips below the field: which words are filters, their values, and the query with one
 * word added or removed. Pure: the query is the only place where a search is stored. The language is the server's: if
 * they differ, `svc/mail/search/language.py` is right.
 */
/** @typedef {{ source: string, name: string, value: string, negated: boolean }} Word `name`: its operator, or "" */
/** @typedef {"from" | "attachment" | "time" | "unread" | "account" | "place" | "starred" | "to-me"} Narrowing */

const PIECE = /(-?)(?:([A-Za-z_]+):)?(?:"([^"]*)(?:"|$)|([^\s"]+)|(?=\s|$))/gu;
const DAY = /^\d{4}-\d{2}-\d{2}$/u;
const DAY_MS = 86_400_000;
const TIMES = new Set(["after", "newer", "newer_than", "before", "older", "older_than"]);
/** @type {Record<Narrowing, (word: Word) => boolean>} */
const IS = {
  "from": ({ name }) => name === "from",
  "attachment": ({ name, value }) => name === "has" && /^(?:attachment|file)s?$/iu.test(value),
  "time": ({ name }) => TIMES.has(name),
  "unread": ({ name, value }) => name === "is" && value.toLowerCase() === "unread",
  "account": ({ name }) => name === "account",
  "place": ({ name }) => name === "in",
  "starred": ({ name, value }) => name === "is" && value.toLowerCase() === "starred",
  "to-me": ({ name, value }) => name === "to" && value.toLowerCase() === "me",
};
/** The offered time spans: the text of each in the query, and its name. */
export const SPANS = [
  { value: "7d", label: "Past 7 days" }, { value: "1m", label: "Past month" }, { value: "1y", label: "Past year" },
];
/** The offered places. @type {Record<string, string>} */
export const PLACES = { inbox: "Inbox", archive: "Archive", sent: "Sent", drafts: "Drafts", spam: "Spam",
  trash: "Trash", anywhere: "Anywhere" };

/** @param {string} text @returns {Word[]} */
export function wordsOf(text) {
  return [...text.matchAll(PIECE)].filter(([source]) => source).map(([source, minus, name, quoted, bare]) => ({
    source, name: (name ?? "").toLowerCase(), value: quoted ?? bare ?? "", negated: minus === "-",
  }));
}

/** The words of the query that belong to this filter. @param {string} text @param {Narrowing} narrowing */
export function narrowed(text, narrowing) {
  return wordsOf(text).filter((word) => !word.negated && word.value && IS[narrowing](word));
}

/**
 * Replaces the words of a filter in the query.
 * @param {string} text
 * @param {Narrowing} narrowing @param {string[]} sources none: removes the filter
 */
export function withWords(text, narrowing, ...sources) {
  const gone = new Set(narrowed(text, narrowing).map((word) => word.source));
  const kept = wordsOf(text).filter((word) => !gone.has(word.source)).map((word) => word.source);
  return [...kept, ...sources].join(" ");
}

/** An operator with its value, in the form of the query. @param {string} operator @param {string} value */
export function operatorWord(operator, value) {
  return `${operator}:${/[\s"]/u.test(value) ? `"${value.replaceAll("\"", "")}"` : value}`;
}

/** The words without an operator, by which pages, people and files are searched. @param {string} text */
export function plainWords(text) {
  return wordsOf(text).filter((word) => !word.name && !word.negated && word.source !== "OR")
    .map((word) => word.value).join(" ").trim();
}

/**
 * The words for a range of days, both included; either may be "".
 * @param {string} first
 * @param {string} last as 2026-03-31
 */
export function rangeWords(first, last) {
  return [...(first ? [`after:${first}`] : []), ...(last ? [`before:${dayAfter(last, 1)}`] : [])];
}

/** The days of a range in the query, for the fields that change it. @param {string} text */
export function rangeOf(text) {
  const days = narrowed(text, "time").filter(({ value }) => DAY.test(value));
  const first = days.find(({ name }) => name === "after")?.value ?? "";
  const before = days.find(({ name }) => name === "before")?.value;
  return { first, last: before ? dayAfter(before, -1) : "" };
}

/** The text of the time chip; "" if there is no such filter. @param {string} text */
export function timeLabel(text) {
  const words = narrowed(text, "time");
  if (!words.length) return "";
  const span = SPANS.find(({ value }) => words.length === 1 && words[0]?.value === value
    && words[0].name === "newer_than");
  if (span) return span.label;
  const { first, last } = rangeOf(text);
  if (first && last) return `${first} – ${last}`;
  if (first) return `Since ${first}`;
  if (last) return `Until ${last}`;
  return words.map((word) => word.source).join(" ");
}

/** The day after `by` days; "" for an invalid day. @param {string} day @param {number} by */
function dayAfter(day, by) {
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) ? "" : new Date(at + by * DAY_MS).toISOString().slice(0, 10);
}
