// @ts-check
/**
 * The suggested times, for sending later and for snoozing: at least three, in the order of time. Pure: the caller
 * passes the current time.
 *
 * "Later today" is three hours from now on the full hour, as long as that is before ten in the evening. The others are
 * by the calendar, so that 8:00 stays 8:00 when clocks change: tomorrow and its afternoon, Saturday until Thursday,
 * Monday unless that is tomorrow, and a week from now.
 */
import { AFTERNOON, MORNING } from "./words.js";

const LATER_HOURS = 3;
const LATEST_HOUR = 22;
const THURSDAY = 4;
const SATURDAY = 6;

/** @typedef {{ id: string, name: string, at: Date }} Choice */

/** @param {Date} now @returns {Choice[]} */
export function presets(now) {
  const day = (/** @type {number} */ days, /** @type {number} */ hour) =>
    new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, hour);
  const today = now.getDay();
  const hour = now.getHours() + LATER_HOURS;
  const toMonday = (8 - today) % 7 || 7;
  const offered = [
    hour < LATEST_HOUR && { name: "Later today", at: day(0, hour) },
    { name: "Tomorrow", at: day(1, MORNING) },
    { name: "Tomorrow afternoon", at: day(1, AFTERNOON) },
    today >= 1 && today <= THURSDAY && { name: "Saturday", at: day(SATURDAY - today, MORNING) },
    toMonday > 1 && toMonday < 7 && { name: "Monday", at: day(toMonday, MORNING) },
    { name: toMonday === 7 ? "Next Monday" : "In a week", at: day(7, MORNING) },
  ].filter((one) => one !== false);
  return offered.map((one) => ({ ...one, id: one.name }));
}
