// @ts-check
/** Days in words, for lists of people and devices. */
import { wholeDate } from "../ui/dates.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** "21 Nov 2026". @param {string} iso */
export function day(iso) {
  return wholeDate(new Date(iso));
}

/**
 * How long until then: "in 7 days", "in 5 h", "in 20 min", "now".
 * @param {string} iso
 * @param {number} nowMs
 */
export function until(iso, nowMs) {
  const left = Date.parse(iso) - nowMs;
  if (left >= 2 * DAY_MS - HOUR_MS) return `in ${Math.round(left / DAY_MS)} days`;
  if (left >= 2 * HOUR_MS) return `in ${Math.round(left / HOUR_MS)} h`;
  return left >= MINUTE_MS ? `in ${Math.round(left / MINUTE_MS)} min` : "now";
}

/** "4:59", "0:07"; never below zero. @param {number} ms */
export function countdown(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
