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

const FIRST_DAYS = { sunday: 0, monday: 1, saturday: 6 };
const MONDAY = 1;

const formats = computed(() => formatsOf(dateStyle.value));

/** "14:05", "2:05 PM". @param {Date} date */
export function clockTime(date) {
  return formats.value.time.format(date);
}

/** "Tue". @param {Date} date */
export function shortWeekday(date) {
  return formats.value.shortWeekday.format(date);
}

/** "Tuesday". @param {Date} date */
export function longWeekday(date) {
  return formats.value.longWeekday.format(date);
}

/** "Mar". @param {Date} date */
export function shortMonth(date) {
  return formats.value.shortMonth.format(date);
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
  return formats.value.zone.formatToParts(date).find(({ type }) => type === "timeZoneName")?.value ?? "";
}

/** Whether "1/12" is the first of December. */
export function isDayFirst() {
  return formats.value.dayFirst;
}

/** 0 for Sunday, as in `Date`. */
export function firstDayOfWeek() {
  return formats.value.firstDay;
}

/** @param {DateStyle} style */
function formatsOf({ language, hours, order, weekStart }) {
  const locale = known(language);
  /** @param {Intl.DateTimeFormatOptions} options */
  const format = (options) => new Intl.DateTimeFormat(locale, options);
  const twelve = hours === "auto" ? format({ hour: "numeric" }).resolvedOptions().hour12 : hours === "12";
  const shortMonth = format({ month: "short" });
  const longMonth = format({ month: "long" });
  const longWeekday = format({ weekday: "long" });
  return {
    time: format({ hour: twelve ? "numeric" : "2-digit", minute: "2-digit", hourCycle: twelve ? "h12" : "h23" }),
    shortWeekday: format({ weekday: "short" }),
    longWeekday,
    shortMonth,
    zone: format({ timeZoneName: "short" }),
    dayFirst: order === "auto" ? writesDayFirst(format({ day: "numeric", month: "numeric" })) : order === "day",
    firstDay: weekStart === "auto" ? firstDayIn(locale) : FIRST_DAYS[weekStart],
    ...(order === "auto" ? asUsual(format) : ordered(order, { shortMonth, longMonth, longWeekday })),
  };
}

/** Formats in the language's own order. @param {(options: Intl.DateTimeFormatOptions) => Intl.DateTimeFormat} format */
function asUsual(format) {
  const [day, month, date, long] = [format({ day: "numeric", month: "short" }),
    format({ month: "short", year: "numeric" }), format({ day: "numeric", month: "short", year: "numeric" }),
    format({ weekday: "long", day: "numeric", month: "long", year: "numeric" })];
  return {
    day: (/** @type {Date} */ one) => day.format(one),
    month: (/** @type {Date} */ one) => month.format(one),
    date: (/** @type {Date} */ one) => date.format(one),
    long: (/** @type {Date} */ one) => long.format(one),
  };
}

/**
 * Formats in the order that the person chose, with the names of the language.
 * @param {"day" | "month" | "year"} order
 * @param {{ shortMonth: Intl.DateTimeFormat, longMonth: Intl.DateTimeFormat, longWeekday: Intl.DateTimeFormat }} names
 */
function ordered(order, { shortMonth, longMonth, longWeekday }) {
  const day = (/** @type {Date} */ one, months = shortMonth) => (order === "year" ? `${monthNumber(one)}-${two(
    one.getDate())}` : order === "day" ? `${one.getDate()} ${months.format(one)}`
      : `${months.format(one)} ${one.getDate()}`);
  const date = (/** @type {Date} */ one, months = shortMonth) => (order === "year" ? `${one.getFullYear()}-${day(one)}`
    : `${day(one, months)}${order === "month" ? "," : ""} ${one.getFullYear()}`);
  return {
    day: (/** @type {Date} */ one) => day(one),
    month: (/** @type {Date} */ one) => (order === "year" ? `${one.getFullYear()}-${monthNumber(one)}`
      : `${shortMonth.format(one)} ${one.getFullYear()}`),
    date: (/** @type {Date} */ one) => date(one),
    long: (/** @type {Date} */ one) => `${longWeekday.format(one)} ${date(one, longMonth)}`,
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
  try {
    return Intl.DateTimeFormat.supportedLocalesOf(language || [])[0];
  } catch {
    return undefined;
  }
}

/** @param {Intl.DateTimeFormat} format for a day and a month */
function writesDayFirst(format) {
  const types = format.formatToParts().map(({ type }) => type);
  return types.indexOf("day") < types.indexOf("month");
}

/** The language's first day of the week; Monday if the browser does not know. @param {string | undefined} locale */
function firstDayIn(locale) {
  const found = /** @type {any} */ (new Intl.Locale(locale ?? navigator.language));
  const first = (found.getWeekInfo?.() ?? found.weekInfo)?.firstDay ?? MONDAY;
  return first % 7; // ISO says 7 for Sunday
}
