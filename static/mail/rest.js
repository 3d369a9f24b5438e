// @ts-check
/**
 * A finger that rests on a row. Some browsers say so with the event of a menu, others (those of iPhones) say nothing:
 * so it is timed here as well: whichever comes first counts. Owns the one finger.
 */
/** As long as a phone's own menus take. */
const RESTS_MS = 500;
/** More is no rest. */
const STILL_PX = 10;

/** @type {{ x: number, y: number, timer: ReturnType<typeof setTimeout>, run: () => void } | null} */
let finger = null;
/** It rested: its end is no tap. */
let rested = false;

/** @param {PointerEvent} event @param {() => void} run once it has rested */
export function mayRest(event, run) {
  restEnds();
  rested = false;
  if (event.pointerType !== "touch" || !event.isPrimary) return;
  finger = { x: event.clientX, y: event.clientY, run, timer: setTimeout(rests, RESTS_MS) };
}

/** It rests now, by our clock or the browser's word. Whether that is heard for the first time. */
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

/** Whether the finger that came last has rested. */
export function hasRested() {
  return rested;
}

/** Whether this click is the end of a rest, and nothing else. One by a key has no detail. @param {MouseEvent} click */
export function endsRest(click) {
  const ends = rested && click.detail > 0;
  if (ends) rested = false;
  return ends;
}
