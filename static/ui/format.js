// @ts-check
/** Formats times, durations, sizes and numbers. The caller passes the current time; dates are formatted by dates.js. */
import { clockTime, dayOfYear, longDate, monthOfYear, shortWeekday, wholeDate, zoneName } from "./dates.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Made when it is first needed: it costs a phone as much as the first page of the app. @type {Intl.NumberFormat} */
let grouped;

/**
 * The time in a list: 14:05 today, Tue within the week, 12 Mar within the year, else Mar 2024.
 * @param {string} iso
 * @param {number} nowMs
 */
export function listTime(iso, nowMs) {
  const then = new Date(iso);
  if (Number.isNaN(then.getTime())) return "";
  const today = new Date(nowMs);
  if (then.toDateString() === today.toDateString()) return clockTime(then);
  const days = (startOfDay(today) - startOfDay(then)) / DAY_MS;
  if (days > 0 && days < 6.5) return shortWeekday(then);
  if (then.getFullYear() === today.getFullYear()) return dayOfYear(then);
  return monthOfYear(then);
}

/**
 * The time of a message: the day as in a list, always with the time of day.
 * @param {string} iso
 * @param {number} nowMs
 */
export function messageTime(iso, nowMs) {
  const then = new Date(iso);
  if (Number.isNaN(then.getTime())) return "";
  const day = listTime(iso, nowMs);
  const time = clockTime(then);
  if (day === time) return time;
  return `${then.getFullYear() === new Date(nowMs).getFullYear() ? day : wholeDate(then)}, ${time}`;
}

/** @param {string} iso */
export function fullTime(iso) {
  const then = new Date(iso);
  return Number.isNaN(then.getTime()) ? iso : `${longDate(then)} at ${clockTime(then)} ${zoneName(then)}`;
}

/**
 * "just now", "20 s ago", "3 min ago", "2 h ago", "4 days ago".
 * @param {string} iso
 * @param {number} nowMs
 */
export function ago(iso, nowMs) {
  const passed = Math.max(0, nowMs - Date.parse(iso));
  if (passed < 8_000) return "just now";
  if (passed < MINUTE_MS) return `${Math.floor(passed / 1000)} s ago`;
  if (passed < HOUR_MS) return `${Math.floor(passed / MINUTE_MS)} min ago`;
  if (passed < 2 * DAY_MS) return `${Math.floor(passed / HOUR_MS)} h ago`;
  return `${Math.floor(passed / DAY_MS)} days ago`;
}

/** "about 40 s", "about 5 min", "about 2 h 10 min". @param {number} seconds */
export function duration(seconds) {
  if (seconds < 55) return `about ${Math.max(5, Math.ceil(seconds / 5) * 5)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `about ${Math.max(1, minutes)} min`;
  const rest = Math.round((minutes % 60) / 10) * 10;
  return rest === 60 || rest === 0 ? `about ${Math.round(minutes / 60)} h`
    : `about ${Math.floor(minutes / 60)} h ${rest} min`;
}

/** @param {number} bytes */
export function fileSize(bytes) {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB"];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** @param {number} value */
export function number(value) {
  if (Number.isInteger(value) && Math.abs(value) < 1_000) return String(value);
  grouped ??= new Intl.NumberFormat("en");
  return grouped.format(value);
}

/**
 * @param {number} count
 * @param {string} one
 * @param {string} [many]
 */
export function plural(count, one, many = `${one}s`) {
  return `${number(count)} ${count === 1 ? one : many}`;
}

/** @param {Date} date */
function startOfDay(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** Shows parts of a cent only below a tenth of a dollar. @param {number} usd */
export function dollars(usd) {
  return `$${usd > 0 && usd < 0.1 ? usd.toFixed(4).replace(/00$/, "") : usd.toFixed(2)}`;
}
