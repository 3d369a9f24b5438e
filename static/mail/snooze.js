// @ts-check
/**
 * Times to snooze until, in the browser's zone. Pure: the caller says what time it is.
 *
 * "Later today" is three hours from now on the full hour, offered as long as that is before ten in the evening. The
 * others are eight in the morning of calendar days: tomorrow, Saturday, Monday; of two that are one the nearer name
 * stays. The weekend is offered until Friday.
 */

const LATER_HOURS = 3;
const LATEST_HOUR = 22;
const MORNING_HOUR = 8;
const SATURDAY = 6;

/** @param {Date} now @returns {{ name: string, at: Date }[]} */
export function snoozePresets(now) {
  const day = (/** @type {number} */ days, /** @type {number} */ hour) => new Date(now.getFullYear(), now.getMonth(),
    now.getDate() + days, hour);
  const today = now.getDay();
  const hour = now.getHours() + LATER_HOURS;
  const toSaturday = SATURDAY - today;
  const toMonday = (8 - today) % 7 || 7;
  return [
    ...(hour < LATEST_HOUR ? [{ name: "Later today", at: day(0, hour) }] : []),
    { name: "Tomorrow", at: day(1, MORNING_HOUR) },
    ...(today !== 0 && toSaturday > 1 ? [{ name: "This weekend", at: day(toSaturday, MORNING_HOUR) }] : []),
    ...(toMonday > 1 ? [{ name: "Next week", at: day(toMonday, MORNING_HOUR) }] : []),
  ];
}
