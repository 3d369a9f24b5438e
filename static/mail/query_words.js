// @ts-check
/**
 * The words of a search, as the chips below the field see them: which narrow it, what each says, and the query with one
 * more or less. Pure: the query stays the only place where a search stands.
 */
/** @typedef {{ source: string, name: string, value: string, negated: boolean }} Word `name`: of its operator, or "" */
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
/** The spans of time that are offered: what is typed for each, and its name. */
export const SPANS = [
  { value: "7d", label: "Past 7 days" }, { value: "1m", label: "Past month" }, { value: "1y", label: "Past year" },
];
/** The places that are offered. @type {Record<string, string>} */
export const PLACES = { inbox: "Inbox", archive: "Archive", sent: "Sent", drafts: "Drafts", spam: "Spam",
  trash: "Trash", anywhere: "Anywhere" };

/** @param {string} text @returns {Word[]} */
export function wordsOf(text) {
  return [...text.matchAll(PIECE)].filter(([source]) => source).map(([source, minus, name, quoted, bare]) => ({
    source, name: (name ?? "").toLowerCase(), value: quoted ?? bare ?? "", negated: minus === "-",
  }));
}

/** The words that narrow it so. @param {string} text @param {Narrowing} narrowing */
export function narrowed(text, narrowing) {
  return wordsOf(text).filter((word) => !word.negated && word.value && IS[narrowing](word));
}

/** The query with these words in the place of those that narrow it so. @param {string} text
 * @param {Narrowing} narrowing @param {string[]} sources none: opened again */
export function withWords(text, narrowing, ...sources) {
  const gone = new Set(narrowed(text, narrowing).map((word) => word.source));
  const kept = wordsOf(text).filter((word) => !gone.has(word.source)).map((word) => word.source);
  return [...kept, ...sources].join(" ");
}

/** An operator with its value, as one types it. @param {string} operator @param {string} value */
export function operatorWord(operator, value) {
  return `${operator}:${/[\s"]/u.test(value) ? `"${value.replaceAll("\"", "")}"` : value}`;
}

/** What narrows nothing: the words that pages, people and files are searched by. @param {string} text */
export function plainWords(text) {
  return wordsOf(text).filter((word) => !word.name && !word.negated && word.source !== "OR")
    .map((word) => word.value).join(" ").trim();
}

/** From and to a day, both included; either may be "". @param {string} first @param {string} last as 2026-03-31 */
export function rangeWords(first, last) {
  return [...(first ? [`after:${first}`] : []), ...(last ? [`before:${dayAfter(last, 1)}`] : [])];
}

/** The days of such a range, for the fields that change it. @param {string} text */
export function rangeOf(text) {
  const days = narrowed(text, "time").filter(({ value }) => DAY.test(value));
  const first = days.find(({ name }) => name === "after")?.value ?? "";
  const before = days.find(({ name }) => name === "before")?.value;
  return { first, last: before ? dayAfter(before, -1) : "" };
}

/** What a chip says of the time; "" where none is asked for. @param {string} text */
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

/** "" for what is no day. @param {string} day @param {number} by */
function dayAfter(day, by) {
  const at = Date.parse(`${day}T00:00:00Z`);
  return Number.isNaN(at) ? "" : new Date(at + by * DAY_MS).toISOString().slice(0, 10);
}
