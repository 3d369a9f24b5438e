// @ts-check
/** The time as a signal that changes every few seconds while the page is visible: for "20 s ago" and the like. */
import { signal } from "@preact/signals";

const TICK_MS = 5_000;

export const now = signal(Date.now());

/** Called once. */
export function startClock() {
  setInterval(tick, TICK_MS);
  document.addEventListener("visibilitychange", tick);
}

function tick() {
  if (document.visibilityState === "visible") now.value = Date.now();
}
