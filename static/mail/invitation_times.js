// @ts-check
/** When a meeting is, in the reader's own zone and words. */

const DAY_MS = 86_400_000;

/** @typedef {{ start: string, end: string, allDay: boolean, zoneKnown: boolean, timezone?: string | null }} Span */

const LONG_DAY = new Intl.DateTimeFormat("en-GB", {
  weekday: "long", day: "numeric", month: "long", year: "numeric",
});
const TIME = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const MONTH = new Intl.DateTimeFormat("en-GB", { month: "short" });

/** The leaf of a calendar: the day, and its month in a few letters. @param {string} start */
export function daysOf(start) {
  const moment = momentOf(start);
  return { day: moment.getDate(), month: MONTH.format(moment) };
}

/** "Wednesday, 3 March 2027, 10:00 to 11:00". A day that ends with another is named, too. @param {Span} span */
export function timesOf(span) {
  const start = momentOf(span.start);
  if (span.allDay) {
    const last = new Date(momentOf(span.end).getTime() - DAY_MS / 2);
    return last > start && !sameDay(last, start)
      ? `${LONG_DAY.format(start)} to ${LONG_DAY.format(last)}, all day`
      : `${LONG_DAY.format(start)}, all day`;
  }
  const end = momentOf(span.end);
  const until = sameDay(start, end) ? TIME.format(end) : `${LONG_DAY.format(end)}, ${TIME.format(end)}`;
  const zone = span.zoneKnown ? "" : ` (in the zone “${span.timezone ?? ""}”)`;
  return `${LONG_DAY.format(start)}, ${TIME.format(start)} to ${until}${zone}`;
}

/** A date is that day here, wherever the reader is. @param {string} text */
function momentOf(text) {
  return new Date(text.includes("T") ? text : `${text}T00:00:00`);
}

/** @param {Date} one @param {Date} other */
function sameDay(one, other) {
  return one.toDateString() === other.toDateString();
}
