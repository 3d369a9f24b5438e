// @ts-check
/** Lengths and states of meetings in words. Pure. */

/** 4:07, or 1:04:07. @param {number} seconds */
export function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  const rest = String(whole % 60).padStart(2, "0");
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
}

/** For screen readers: "4 minutes 7 seconds". @param {number} seconds */
export function spokenClock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  /** @type {[number, string][]} */
  const parts = [[Math.floor(whole / 3600), "hour"], [Math.floor(whole / 60) % 60, "minute"], [whole % 60, "second"]];
  return parts.filter(([n, unit]) => n || (unit === "second" && whole < 60))
    .map(([n, unit]) => `${n} ${unit}${n === 1 ? "" : "s"}`).join(" ");
}

/** @type {Record<OutputOf<"meetings.get">["meeting"]["state"], string>} */
export const STATE_WORDS = {
  recording: "is being recorded",
  finishing: "is being written down",
  done: "",
};
