// @ts-check
/** The time of a meeting, in the reader's time zone and words. */
import { clockTime, longDate, shortMonth } from "../ui/dates.js";

const DAY_MS = 86_400_000;

/** @typedef {{ start: string, end: string, allDay: boolean, zoneKnown: boolean, timezone?: string | null }} Span */

/** The calendar sheet: the day, and its month in a few letters. @param {string} start */
export function daysOf(start) {
  const moment = momentOf(start);
  return { day: moment.getDate(), month: shortMonth(moment) };
}

/** "Wednesday, 3 March 2027, 10:00 to 11:00". If it ends on another day, that day is named, too. @param {Span} span */
export function timesOf(span) {
  const start = momentOf(span.start);
  if (span.allDay) {
    const last = new Date(momentOf(span.end).getTime() - DAY_MS / 2);
    return last > start && !sameDay(last, start)
      ? `${longDate(start)} to ${longDate(last)}, all day`
      : `${longDate(start)}, all day`;
  }
  const end = momentOf(span.end);
  const until = sameDay(start, end) ? clockTime(end) : `${longDate(end)}, ${clockTime(end)}`;
  const zone = span.zoneKnown ? "" : ` (in the zone “${span.timezone ?? ""}”)`;
  return `${longDate(start)}, ${clockTime(start)} to ${until}${zone}`;
}

/** The moment of a time or date. A date without time means that day in the reader's zone. @param {string} text */
function momentOf(text) {
  return new Date(text.includes("T") ? text : `${text}T00:00:00`);
}

/** @param {Date} one @param {Date} other */
function sameDay(one, other) {
  return one.toDateString() === other.toDateString();
}
