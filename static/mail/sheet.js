// @ts-check
/**
 * A message has its height: the frame tells how tall its document is, where the browser has it tell
 * (`frame-sizing: content-height`). No script runs in the frame for that, and it stays of another origin.
 *
 * The browser looks once, as the document is loaded. A document that is there before its frame was laid out is told to
 * be of no height, or no height is told at all; so it is put in after that. Even then the frame's process often takes
 * the frame for the 150 pixels that frames have, and no document is told to be lower than its frame. So each has as
 * much room at its end, which the box of the frame cuts off. Where a browser knows none of this, or tells nothing soon
 * after the load, the frame is as tall as the estimate, and scrolls inside where that errs.
 */

const SIZES_ITSELF = CSS.supports("frame-sizing", "content-height");
/** The room at the end of a document that no frame can be taller than, in pixels. */
export const END_PX = SIZES_ITSELF ? 150 : 0;
/** What is taller than so many estimates was measured wrong, or grows with its frame. */
const MOST_ESTIMATES = 4;
const LEAST_BELIEVED_PX = 400;
const MAX_REMEMBERED = 500;
/** How long after the load a height may be told. */
const TOLD_MS = 1_000;

/** @type {Map<string, number>} */
const heights = new Map();

/** @param {string} key */
export function remembered(key) {
  return heights.get(key);
}

/** The oldest goes where there are too many. @param {string} key @param {number} height */
export function remember(key, height) {
  heights.delete(key);
  heights.set(key, height);
  for (const oldest of heights.keys()) {
    if (heights.size <= MAX_REMEMBERED) break;
    heights.delete(oldest);
  }
}

/**
 * Show a document in a frame that is there, and empty. Returns what ends it.
 * @param {HTMLIFrameElement} frame
 * @param {string} source
 * @param {number} estimate in pixels
 * @param {(height: number) => void} measured
 */
export function showIn(frame, source, estimate, measured) {
  if (!SIZES_ITSELF) {
    frame.srcdoc = source;
    return () => {};
  }
  frame.style.setProperty("frame-sizing", "content-height");
  frame.style.height = "auto";
  /** @type {number | undefined} */
  let timer;
  const end = () => {
    clearTimeout(timer);
    observer.disconnect();
  };
  const giveUp = () => {
    end();
    frame.style.height = "100%";
  };
  const load = () => {
    frame.addEventListener("load", () => {
      timer = setTimeout(() => frame.offsetHeight <= END_PX && giveUp(), TOLD_MS);
    }, { once: true });
    frame.srcdoc = source;
  };
  // It is told first as the frame is laid out. The frame lives in another process, which may tell late.
  const observer = new ResizeObserver(() => {
    timer ??= setTimeout(load);
    const height = frame.offsetHeight - END_PX;
    if (height > Math.max(LEAST_BELIEVED_PX, MOST_ESTIMATES * estimate)) giveUp();
    else if (height > 0) measured(height);
  });
  observer.observe(frame);
  return end;
}
