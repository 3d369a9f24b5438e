// @ts-check
/**
 * Times for sending later, in the browser's zone. Pure: the caller says what time it is.
 *
 * The presets, and why these: "tomorrow morning" and "Monday morning" are 8:00 of the next calendar day and of the next
 * Monday that is not today; "this afternoon" is 15:00, offered as long as that is still to come. On a Sunday the two
 * mornings are one, and Monday's is left out. A day is counted by the calendar, not by 24 hours: 8:00 stays 8:00 when
 * clocks change.
 */

const MORNING_HOUR = 8;
const AFTERNOON_HOUR = 15;
const MINUTE_MS = 60_000;
/** Nobody means a message for after that. */
const MAX_YEARS = 5;

const WHEN = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", hour: "2-digit",
  minute: "2-digit" });
const WHEN_YEAR = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric", month: "short", year: "numeric",
  hour: "2-digit", minute: "2-digit" });

/** @typedef {{ name: string, at: Date }} Preset */

/** @param {Date} now @returns {Preset[]} */
export function presets(now) {
  const day = (/** @type {number} */ days, /** @type {number} */ hour) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
  const untilMonday = (8 - now.getDay()) % 7 || 7;
  const afternoon = day(0, AFTERNOON_HOUR);
  return [
    ...(afternoon > now ? [{ name: "This afternoon", at: afternoon }] : []),
    { name: "Tomorrow morning", at: day(1, MORNING_HOUR) },
    ...(untilMonday > 1 ? [{ name: "Monday morning", at: day(untilMonday, MORNING_HOUR) }] : []),
  ];
}

/**
 * What a date and a time field say, and why it can't be. A time that clocks skip is moved, and `moved` says so.
 * @param {string} date "2026-11-21"
 * @param {string} time "08:00"
 * @param {Date} now
 * @returns {{ at: Date | null, problem: string, moved: boolean }}
 */
export function chosen(date, time, now) {
  const match = /^(\d{4,6})-(\d\d)-(\d\d) (\d\d):(\d\d)/.exec(`${date} ${time}`);
  if (!match) return { at: null, problem: "Choose a day and a time.", moved: false };
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = match.slice(1).map(Number);
  const at = new Date(year, month - 1, day, hour, minute);
  if (at.getTime() < now.getTime() + MINUTE_MS / 2) return { at: null, problem: "That is in the past.", moved: false };
  if (year > now.getFullYear() + MAX_YEARS) return { at: null, problem: `At most ${MAX_YEARS} years ahead.`,
    moved: false };
  return { at, problem: "", moved: at.getHours() !== hour || at.getMinutes() !== minute };
}

/** What the fields show at first: the next full hour, at least an hour away. @param {Date} now */
export function firstChoice(now) {
  const at = new Date(now.getFullYear(), now.getMonth(), now.getDate(), now.getHours() + 2);
  return { date: dateField(at), time: `${two(at.getHours())}:${two(at.getMinutes())}` };
}

/** "2026-11-21", as date fields want it. @param {Date} date */
export function dateField(date) {
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** "Mon 23 Nov, 08:00", with the year where it is another. @param {Date} at @param {Date} now */
export function whenWords(at, now) {
  return (at.getFullYear() === now.getFullYear() ? WHEN : WHEN_YEAR).format(at);
}

/** The browser's zone: "Europe/Berlin (UTC+1)", with the offset that holds at that time. @param {Date} at */
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
