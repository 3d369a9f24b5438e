// @ts-check
/**
 * Parses a time as people type it: "fri 9am", "in 2 hours", "tomorrow", "eod", "next week", "1/12", "9", "mon"; in
 * English, German, French and Spanish. Pure: the caller passes the current time, and whether the day comes before the
 * month.
 *
 * Theory. The text is split into words and numbers; a known phrase counts as one word. Each word is a day, a time of
 * the day, a distance, or a filler; any other word makes the whole text invalid, so that nothing is guessed. A day
 * without a time means 8:00; a time without a day means its next occurrence. Days are counted by the calendar, not by
 * 24 hours. The result is never in the past. A plain hour from 1 to 6 means the afternoon: nobody means it at night.
 */
import {
  AFTERNOON, COUNT, DAY, FILLERS, IN, MONTH, MORNING, NEXT, PART, PHRASES, SPAN, UNIT, WEEKDAY,
} from "./words.js";

const MINUTE_MS = 60_000;
const HOUR_MINUTES = 60;
const NOON = 12;
const LAST_NIGHT_HOUR = 6;
const MONDAY = 1;
const FRIDAY = 5;
const SATURDAY = 6;
const END_OF_DAY = 17;
const TONIGHT = 20;
/** A later time is refused: nobody means it. */
export const MAX_YEARS = 5;
const MAX_CHARS = 80;
const TOO_LATE = `At most ${MAX_YEARS} years ahead.`;
const PAST = "That is in the past.";
const UNKNOWN = "Not understood. Try “fri 9am”, “in 2 hours” or “12 Dec 14:00”.";

/**
 * The result so far. `day`: the day; `hour`, `minute`: the time of the day; `plain`: an hour without more; `ahead`:
 * minutes from now; `repeats`: the later day that the same words mean if this one is past.
 * @typedef {object} Found
 * @property {Date | null} day
 * @property {number | null} hour
 * @property {number} minute
 * @property {boolean} plain
 * @property {number} ahead
 * @property {((day: Date) => Date) | null} repeats
 */
/** @typedef {{ at: Date, problem: "" } | { at: null, problem: string }} Read */

/**
 * @param {string} text
 * @param {Date} now
 * @param {{ dayFirst?: boolean, weekStart?: number }} [how] how "1/12" is read, and with which day (0: Sunday) a week
 *   begins
 * @returns {Read}
 */
export function parseTime(text, now, { dayFirst = true, weekStart = MONDAY } = {}) {
  const words = wordsOf(text);
  if (!words.length) return refused("");
  /** @type {Found} */
  const found = { day: null, hour: null, minute: 0, plain: false, ahead: 0, repeats: null };
  let at = 0;
  while (at < words.length) {
    const taken = take(words, at, found, now, { dayFirst, weekStart });
    if (!taken) return refused(UNKNOWN);
    at += taken;
  }
  return settle(found, now);
}

/** @param {string} problem @returns {Read} */
function refused(problem) {
  return { at: null, problem };
}

/** @param {string} text */
function wordsOf(text) {
  let plain = text.slice(0, MAX_CHARS).normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().replace(/[’`]/g, "'")
    .replace(/([ap])\.\s?m\.?/g, "$1m").replace(/(\d)\s+([ap]m)\b/g, "$1$2")
    .replace(/(?<!\b(?:dans|en|in|de) )\b(\d\d?)\s*(?:uhr|heures?)(?:\s+(\d\d))?\b/g,
      (_, hour, minute) => `${hour}:${minute ?? "00"}`)
    .replace(/[,;!?]/g, " ").replace(/\s+/g, " ").trim();
  for (const phrase of PHRASES) plain = ` ${plain} `.replace(` ${phrase.replaceAll("_", " ")} `, ` ${phrase} `).trim();
  // "2h", "90min", "3days" are a number and a unit; "9h30" is a time.
  const cut = plain.replace(/\b(\d+(?:[.,]\d+)?)([a-z]{1,8})(?=\s|$)/g, (whole, number, unit) =>
    UNIT.has(unit) ? `${number} ${unit}` : whole);
  return cut.split(" ").filter(Boolean);
}

/**
 * Parses the part that begins at this word. Returns how many words it used, 0 if it is not understood.
 * @param {string[]} words
 * @param {number} at
 * @param {Found} found
 * @param {Date} now
 * @param {{ dayFirst: boolean, weekStart: number }} how
 */
function take(words, at, found, now, { dayFirst, weekStart }) {
  const word = (words[at] ?? "").replace(/\.$/, "");
  return distance(words, at, found, now) || date(words, at, found, now, dayFirst)
    || dayWord(words, at, found, now, weekStart) || timeOfDay(word, found)
    || (FILLERS.has(word) || NEXT.has(word) ? 1 : 0);
}

/** "in 2 hours", "in an hour", "90 min", "in 3 days". @param {string[]} words @param {number} from
 * @param {Found} found @param {Date} now */
function distance(words, from, found, now) {
  const said = IN.has(words[from] ?? "");
  const at = said ? from + 1 : from;
  const number = words[at] ?? "";
  const count = /^\d+(?:[.,]\d+)?$/.test(number) ? Number(number.replace(",", ".")) : COUNT.get(number);
  const unit = UNIT.get((words[at + 1] ?? "").replace(/\.$/, ""));
  if (count === undefined || unit === undefined || found.day) return 0;
  if (!said && unit === "hour" && /^\d+$/.test(number) && words[at + 1] === "h" && words.length > 2) return 0; // "9 h"
  if (unit === "minute") found.ahead += count;
  else if (unit === "hour") found.ahead += count * HOUR_MINUTES;
  else if (unit === "month") found.day = monthsAhead(now, Math.round(count));
  else found.day = addDays(now, Math.round(unit === "week" ? count * 7 : count));
  return at + 2 - from;
}

/** "2026-12-01", "1.12.", "1/12", "12 dec", "dec 12 2027", "the 3rd". @param {string[]} words @param {number} at
 * @param {Found} found @param {Date} now @param {boolean} dayFirst */
function date(words, at, found, now, dayFirst) {
  const word = words[at] ?? "";
  if (found.day) return 0;
  const iso = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(word);
  if (iso) return onDay(found, now, Number(iso[3]), Number(iso[2]) - 1, Number(iso[1])) ? 1 : 0;
  const numbers = /^(\d{1,2})([./-])(\d{1,2})(?:\2(\d{4}|\d\d)?)?$/.exec(word);
  if (numbers) {
    const [first, second] = [Number(numbers[1]), Number(numbers[3])];
    const turned = second > NOON || (numbers[2] !== "." && !dayFirst && first <= NOON);
    const year = numbers[4] === undefined ? null : Number(numbers[4]) + (numbers[4].length === 2 ? 2000 : 0);
    const [day, month] = turned ? [second, first] : [first, second];
    return numbers[2] === "." && turned ? 0 : onDay(found, now, day, month - 1, year) ? 1 : 0; // "9.30" is a time
  }
  const [one, two] = [ordinal(word), MONTH.get((words[at + 1] ?? "").replace(/\.$/, ""))];
  const year = (/** @type {number} */ index) => (/^\d{4}$/.test(words[index] ?? "") ? Number(words[index]) : null);
  if (one !== null && two !== undefined) {
    return onDay(found, now, one, two, year(at + 2)) ? 2 + Number(year(at + 2) !== null) : 0;
  }
  const [month, day] = [MONTH.get(word.replace(/\.$/, "")), ordinal(words[at + 1] ?? "")];
  if (month !== undefined && day !== null) {
    return onDay(found, now, day, month, year(at + 2)) ? 2 + Number(year(at + 2) !== null) : 0;
  }
  if (!/^\d{1,2}(?:st|nd|rd|th|\.)$/.test(word) || one === null || one < 1 || one > 31) return 0;
  let ahead = Number(one <= now.getDate());
  while (new Date(now.getFullYear(), now.getMonth() + ahead, one).getDate() !== one) ahead += 1; // no 31st in June
  found.day = new Date(now.getFullYear(), now.getMonth() + ahead, one);
  return 1;
}

/** @param {string} word */
function ordinal(word) {
  const found = /^(\d{1,2})(?:st|nd|rd|th|er|\.)?$/.exec(word);
  return found ? Number(found[1]) : null;
}

/** @param {Found} found @param {Date} now @param {number} day @param {number} month from 0
 * @param {number | null} year */
function onDay(found, now, day, month, year) {
  const first = year ?? now.getFullYear();
  const exists = (/** @type {number} */ in_) => {
    const made = new Date(in_, month, day);
    return made.getMonth() === month && made.getDate() === day ? made : null;
  };
  const made = year === null ? [0, 1, 2, 3, 4].map((more) => exists(first + more)).find(Boolean) : exists(first);
  if (!made) return false;
  found.day = made;
  if (year === null) found.repeats = (old) => exists(old.getFullYear() + 1) ?? old;
  return true;
}

/**
 * @param {string[]} words @param {number} at @param {Found} found @param {Date} now
 * @param {number} weekStart "next Sunday" is in the week that begins next
 */
function dayWord(words, at, found, now, weekStart) {
  const word = (words[at] ?? "").replace(/\.$/, "");
  const ahead = DAY.get(word);
  if (word === "manana" && found.day && found.hour === null) return setHour(found, MORNING);
  if (word === "morgen" && found.day && found.hour === null) return setHour(found, MORNING);
  if (found.day) return 0;
  if (ahead !== undefined) {
    found.day = addDays(now, ahead);
    return 1;
  }
  const span = SPAN.get(word);
  if (span) return setSpan(found, now, span);
  const next = NEXT.has(word) || NEXT.has(words[at + 1] ?? "");
  const weekday = WEEKDAY.get(NEXT.has(word) ? words[at + 1] ?? "" : word);
  if (weekday === undefined) return 0;
  const away = (weekday - now.getDay() + 7) % 7;
  const nextWeek = addDays(now, (weekStart + 7 - now.getDay()) % 7 || 7);
  found.day = next ? addDays(nextWeek, (weekday - weekStart + 7) % 7) : addDays(now, away);
  found.repeats = (old) => addDays(old, 7);
  return next ? 2 : 1;
}

/** @param {Found} found @param {Date} now @param {"week" | "weekend" | "month" | "endOfWeek" | "endOfMonth"} span */
function setSpan(found, now, span) {
  const today = now.getDay();
  if (span === "week") found.day = addDays(now, (8 - today) % 7 || 7);
  else if (span === "month") found.day = new Date(now.getFullYear(), now.getMonth() + 1, 1);
  else if (span === "endOfMonth") found.day = new Date(now.getFullYear(), now.getMonth() + 1, 0);
  else {
    found.day = addDays(now, ((span === "weekend" ? SATURDAY : FRIDAY) - today + 7) % 7);
    found.repeats = (old) => addDays(old, 7);
  }
  if (span === "endOfMonth") found.repeats = (old) => new Date(old.getFullYear(), old.getMonth() + 2, 0);
  if (span.startsWith("end")) found.hour = END_OF_DAY;
  return 1;
}

/** "9", "9am", "9:30", "9h30", "9.30", "0930", "evening". @param {string} word @param {Found} found */
function timeOfDay(word, found) {
  const part = PART.get(word);
  if (part !== undefined) {
    if (found.hour !== null && found.plain && found.hour < NOON && part >= AFTERNOON) found.hour += NOON; // "7 evening"
    else if (found.hour !== null && !found.plain) return 0;
    else if (found.hour === null) setHour(found, part);
    found.plain = false;
    return 1;
  }
  if (word === "midnight" || word === "mitternacht" || word === "minuit" || word === "medianoche") {
    if (found.hour !== null) return 0;
    return setHour(found, 24);
  }
  const parts = /^(\d{1,2})(?:[:.h](\d\d)|h)?(am|pm|a|p)?$/.exec(word) ?? /^(\d\d)(\d\d)()$/.exec(word);
  if (!parts) return 0;
  const [hour, minute, half] = [Number(parts[1]), Number(parts[2] ?? 0), parts[3]];
  const fits = minute < HOUR_MINUTES && (half ? hour >= 1 && hour <= NOON : hour < 24);
  if (!fits || (found.hour !== null && found.hour !== undefined && !isPart(found))) return 0;
  const evening = isPart(found) && /** @type {number} */ (found.hour) >= AFTERNOON && hour < NOON;
  found.hour = half ? (hour % NOON) + (half.startsWith("p") ? NOON : 0) : evening ? hour + NOON : hour;
  found.minute = minute;
  found.plain = !half && !evening && parts[2] === undefined && !/^0|h$/.test(word);
  return 1;
}

/**
 * Whether a part of the day was named without an hour: one may still follow ("tomorrow evening 7").
 * @param {Found} found
 */
function isPart(found) {
  return found.hour !== null && found.minute === -1;
}

/** @param {Found} found @param {number} hour */
function setHour(found, hour) {
  found.hour = hour;
  found.minute = -1;
  return 1;
}

/** @param {Found} found @param {Date} now @returns {Read} */
function settle(found, now) {
  const { day, repeats } = found;
  if (found.ahead) {
    if (day || found.hour !== null) return refused(UNKNOWN);
    return within(new Date(Math.ceil((now.getTime() + found.ahead * MINUTE_MS) / MINUTE_MS) * MINUTE_MS), now);
  }
  if (!day && found.hour === null) return refused(UNKNOWN);
  const isToday = day !== null && sameDay(day, now);
  let hour = found.hour ?? (isToday && !repeats ? (now.getHours() < END_OF_DAY ? END_OF_DAY : TONIGHT) : MORNING);
  if (found.plain && hour >= 1 && hour <= LAST_NIGHT_HOUR) hour += NOON;
  const minute = Math.max(0, found.minute);
  const first = onTime(day ?? now, hour, minute);
  const wanted = [first];
  if (!day) wanted.push(onTime(addDays(now, 1), hour, minute));
  else if (repeats) wanted.push(onTime(repeats(day), hour, minute));
  else if (isToday && found.plain && hour < NOON) wanted.push(onTime(day, hour + NOON, minute)); // "today 9", at ten
  if (wanted.some((one) => Number.isNaN(one.getTime()))) return refused(TOO_LATE);
  const at = wanted.find((one) => isAhead(one, now) && !(found.hour === null && repeats && sameDay(one, now)));
  return at ? within(at, now) : refused(PAST);
}

/** @param {Date} at @param {Date} now @returns {Read} */
function within(at, now) {
  const latest = new Date(now.getFullYear() + MAX_YEARS, now.getMonth(), now.getDate() + 1);
  return Number.isNaN(at.getTime()) || at > latest ? refused(TOO_LATE) : { at, problem: "" };
}

/** @param {Date} at @param {Date} now */
function isAhead(at, now) {
  return at.getTime() > now.getTime() + MINUTE_MS / 2;
}

/** @param {Date} day @param {number} hour @param {number} minute */
function onTime(day, hour, minute) {
  return new Date(day.getFullYear(), day.getMonth(), day.getDate(), hour, minute);
}

/** @param {Date} day @param {number} days */
function addDays(day, days) {
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days);
}

/** The same day of a later month, or its last one. @param {Date} now @param {number} months */
function monthsAhead(now, months) {
  const last = new Date(now.getFullYear(), now.getMonth() + months + 1, 0).getDate();
  return new Date(now.getFullYear(), now.getMonth() + months, Math.min(now.getDate(), last));
}

/** @param {Date} one @param {Date} other */
function sameDay(one, other) {
  return one.toDateString() === other.toDateString();
}
