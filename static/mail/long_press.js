// @ts-check
/**
 * Detects a long press on a row. Some browsers report it with the contextmenu event, others (those of iPhones) do not:
 * so it is also timed here, and the first of both counts. Owns the state of the one finger on the screen.
 */
/** The same time as for a phone's own menus. */
const LONG_PRESS_MS = 500;
/** A longer movement is not a long press. */
const STILL_PX = 10;

/** @type {{ x: number, y: number, timer: ReturnType<typeof setTimeout>, run: () => void } | null} */
let finger = null;
/** Whether it was a long press: then its end is not a tap. */
let wasLong = false;

/** @param {PointerEvent} event @param {() => void} run called after a long press */
export function pressBegins(event, run) {
  pressEnds();
  wasLong = false;
  if (event.pointerType !== "touch" || !event.isPrimary) return;
  finger = { x: event.clientX, y: event.clientY, run, timer: setTimeout(longPressed, LONG_PRESS_MS) };
}

/** Reports a long press, from our timer or the browser. Returns whether it is the first report. */
export function longPressed() {
  const mine = finger;
  pressEnds();
  if (!mine) return false;
  wasLong = true;
  mine.run();
  return true;
}

/** @param {PointerEvent} event */
export function pressMoves(event) {
  if (finger && Math.hypot(event.clientX - finger.x, event.clientY - finger.y) >= STILL_PX) pressEnds();
}

export function pressEnds() {
  clearTimeout(finger?.timer);
  finger = null;
}

/** Whether the last touch was a long press: its click is only the end of it. */
export function wasLongPress() {
  return wasLong;
}

/**
 * Whether this click is only the end of a long press. The click of a key has no detail.
 * @param {MouseEvent} click
 */
export function endsLongPress(click) {
  const ends = wasLong && click.detail > 0;
  if (ends) wasLong = false;
  return ends;
}
