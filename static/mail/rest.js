// @ts-check
/**
 * Detects a long press on a row. Some browsers report it with the contextmenu event, others (those of iPhones) do not:
 * so it is also timed here, and the first of both counts. Owns the one finger.
 */
/** The same time as for a phone's own menus. */
const RESTS_MS = 500;
/** A longer movement is not a long press. */
const STILL_PX = 10;

/** @type {{ x: number, y: number, timer: ReturnType<typeof setTimeout>, run: () => void } | null} */
let finger = null;
/** Whether it was a long press: then its end is not a tap. */
let rested = false;

/** @param {PointerEvent} event @param {() => void} run called after a long press */
export function mayRest(event, run) {
  restEnds();
  rested = false;
  if (event.pointerType !== "touch" || !event.isPrimary) return;
  finger = { x: event.clientX, y: event.clientY, run, timer: setTimeout(rests, RESTS_MS) };
}

/** Reports a long press, from our timer or the browser. Returns whether it is the first report. */
export function rests() {
  const mine = finger;
  restEnds();
  if (!mine) return false;
  rested = true;
  mine.run();
  return true;
}

/** @param {PointerEvent} event */
export function restMoves(event) {
  if (finger && Math.hypot(event.clientX - finger.x, event.clientY - finger.y) >= STILL_PX) restEnds();
}

export function restEnds() {
  clearTimeout(finger?.timer);
  finger = null;
}

/** Whether the last touch was a long press: its click is only the end of it. */
export function hasRested() {
  return rested;
}

/** Whether this click is the end of a rest, and nothing else. One by a key has no detail. @param {MouseEvent} click */
export function endsRest(click) {
  const ends = rested && click.detail > 0;
  if (ends) rested = false;
  return ends;
}
