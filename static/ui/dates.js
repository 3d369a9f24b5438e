// @ts-check
/**
 * Formats dates and times: in the browser's language and style, unless the person chose otherwise. A component that
 * shows a date renders again when the choice changes.
 */
import { computed, signal } from "@preact/signals";

/**
 * `language`: a tag (BCP 47), empty for the browser's. `hours`: 12 or 24. `order`: which part of a date comes first.
 * @typedef {object} DateStyle
 * @property {string} language
 * @property {"auto" | "12" | "24"} hours
 * @property {"auto" | "day" | "month" | "year"} order
 * @property {"auto" | "monday" | "saturday" | "sunday"} weekStart
 */

/** @type {import("@preact/signals").Signal<DateStyle>} */
export const dateStyle = signal({ language: "", hours: "auto", order: "auto", weekStart: "auto" });

/** @typedef {(date: Date) => string} Formatter */

const FIRST_DAYS = { sunday: 0, monday: 1, saturday: 6 };
const MONDAY = 1;

const formats = computed(() => formatsOf(dateStyle.value));

/** "14:05", "2:05 PM". @param {Date} date */
export function clockTime(date) {
  return formats.value.time(date);
}

/** "Tue". @param {Date} date */
export function shortWeekday(date) {
  return formats.value.shortWeekday(date);
}

/** "Tuesday". @param {Date} date */
export function longWeekday(date) {
  return formats.value.longWeekday(date);
}

/** "Mar". @param {Date} date */
export function shortMonth(date) {
  return formats.value.shortMonth(date);
}

/** "12 Mar", "Mar 12", "03-12". @param {Date} date */
export function dayOfYear(date) {
  return formats.value.day(date);
}

/** "Mar 2024", "2024-03". @param {Date} date */
export function monthOfYear(date) {
  return formats.value.month(date);
}

/** "12 Mar 2024", "Mar 12, 2024", "2024-03-12". @param {Date} date */
export function wholeDate(date) {
  return formats.value.date(date);
}

/** "Tuesday 12 March 2024". @param {Date} date */
export function longDate(date) {
  return formats.value.long(date);
}

/** "CET". @param {Date} date */
export function zoneName(date) {
  return formats.value.zone(date);
}

/** Whether "1/12" is the first of December. */
export function isDayFirst() {
  return formats.value.isDayFirst();
}

/** 0 for Sunday, as in `Date`. */
export function firstDayOfWeek() {
  return formats.value.firstDay();
}

/** @param {DateStyle} style */
function formatsOf({ language, hours, order, weekStart }) {
  const locale = known(language);
  /** @param {Intl.DateTimeFormatOptions} options */
  const format = (options) => formatter(() => new Intl.DateTimeFormat(locale, options));
  const names = { shortMonth: format({ month: "short" }), longMonth: format({ month: "long" }),
    longWeekday: format({ weekday: "long" }) };
  return {
    time: formatter(() => clockOf(locale, hours === "auto" ? writesTwelve(locale) : hours === "12")),
    shortWeekday: format({ weekday: "short" }),
    longWeekday: names.longWeekday,
    shortMonth: names.shortMonth,
    zone: zoneIn(locale),
    isDayFirst: once(() => (order === "auto" ? writesDayFirst(locale) : order === "day")),
    firstDay: once(() => (weekStart === "auto" ? firstDayIn(locale) : FIRST_DAYS[weekStart])),
    ...(order === "auto" ? asUsual(format) : ordered(order, names)),
  };
}

/** @param {() => Intl.DateTimeFormat} make @returns {Formatter} */
function formatter(make) {
  const own = once(make);
  return (date) => own().format(date);
}

/**
 * A value that is made when it is first asked for: each of the browser's formatters costs a phone some milliseconds,
 * and a page shows few kinds of dates.
 * @template Value
 * @param {() => Value} make
 */
function once(make) {
  /** @type {Value | undefined} */
  let made;
  return () => (made ??= make());
}

/**
 * Formats in the language's own order.
 * @param {(options: Intl.DateTimeFormatOptions) => Formatter} format
 */
function asUsual(format) {
  return {
    day: format({ day: "numeric", month: "short" }),
    month: format({ month: "short", year: "numeric" }),
    date: format({ day: "numeric", month: "short", year: "numeric" }),
    long: format({ weekday: "long", day: "numeric", month: "long", year: "numeric" }),
  };
}

/**
 * Formats in the order that the person chose, with the names of the language.
 * @param {"day" | "month" | "year"} order
 * @param {{ shortMonth: Formatter, longMonth: Formatter, longWeekday: Formatter }} names
 */
function ordered(order, { shortMonth, longMonth, longWeekday }) {
  const day = (/** @type {Date} */ one, months = shortMonth) => (order === "year" ? `${monthNumber(one)}-${two(
    one.getDate())}` : order === "day" ? `${one.getDate()} ${months(one)}` : `${months(one)} ${one.getDate()}`);
  const date = (/** @type {Date} */ one, months = shortMonth) => (order === "year" ? `${one.getFullYear()}-${day(one)}`
    : `${day(one, months)}${order === "month" ? "," : ""} ${one.getFullYear()}`);
  return {
    day: (/** @type {Date} */ one) => day(one),
    month: (/** @type {Date} */ one) => (order === "year" ? `${one.getFullYear()}-${monthNumber(one)}`
      : `${shortMonth(one)} ${one.getFullYear()}`),
    date: (/** @type {Date} */ one) => date(one),
    long: (/** @type {Date} */ one) => `${longWeekday(one)} ${date(one, longMonth)}`,
  };
}

/** @param {Date} date */
function monthNumber(date) {
  return two(date.getMonth() + 1);
}

/** @param {number} value */
function two(value) {
  return String(value).padStart(2, "0");
}

/** The language if the browser knows it, else undefined: the browser's own. @param {string} language */
function known(language) {
  if (!language) return undefined; // to ask for nothing takes as long as to make a formatter
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(language)[0];
  } catch {
    return undefined;
  }
}

/** @param {string | undefined} locale */
function writesDayFirst(locale) {
  const types = new Intl.DateTimeFormat(locale, { day: "numeric", month: "numeric" }).formatToParts()
    .map(({ type }) => type);
  return types.indexOf("day") < types.indexOf("month");
}

/** @param {string | undefined} locale */
function writesTwelve(locale) {
  return new Intl.DateTimeFormat(locale, { hour: "numeric" }).resolvedOptions().hour12;
}

/** @param {string | undefined} locale @param {boolean | undefined} twelve */
function clockOf(locale, twelve) {
  return new Intl.DateTimeFormat(locale, { hour: twelve ? "numeric" : "2-digit", minute: "2-digit",
    hourCycle: twelve ? "h12" : "h23" });
}

/** @param {string | undefined} locale @returns {Formatter} */
function zoneIn(locale) {
  const own = once(() => new Intl.DateTimeFormat(locale, { timeZoneName: "short" }));
  return (date) => own().formatToParts(date).find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** The language's first day of the week; Monday if the browser does not know. @param {string | undefined} locale */
function firstDayIn(locale) {
  const found = /** @type {any} */ (new Intl.Locale(locale ?? navigator.language));
  const first = (found.getWeekInfo?.() ?? found.weekInfo)?.firstDay ?? MONDAY;
  return first % 7; // ISO says 7 for Sunday
}
