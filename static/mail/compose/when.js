// @ts-check
/** Times in words, in the browser's time zone. The caller passes the current time. */
import { clockTime, dayOfYear, longWeekday, shortWeekday, wholeDate } from "../../ui/dates.js";

/** "Today", "Tomorrow", "Monday". @param {Date} at @param {Date} now */
export function dayWords(at, now) {
  const tomorrow = new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1);
  if (at.toDateString() === now.toDateString()) return "Today";
  return at.toDateString() === tomorrow.toDateString() ? "Tomorrow" : longWeekday(at);
}

/** "Mon 23 Nov, 08:00", with the year if it is not the current one. @param {Date} at @param {Date} now */
export function whenWords(at, now) {
  const day = at.getFullYear() === now.getFullYear() ? dayOfYear(at) : wholeDate(at);
  return `${shortWeekday(at)} ${day}, ${clockTime(at)}`;
}

/** The browser's time zone: "Europe/Berlin (UTC+1)", with the offset at that time. @param {Date} at */
export function zoneWords(at) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const minutes = -at.getTimezoneOffset();
  const offset = `${minutes < 0 ? "−" : "+"}${Math.floor(Math.abs(minutes) / 60)}${minutes % 60
    ? `:${two(Math.abs(minutes) % 60)}` : ""}`;
  return zone === "UTC" ? zone : `${zone} (UTC${minutes ? offset : ""})`;
}

/** @param {number} value */
function two(value) {
  return String(value).padStart(2, "0");
}
