// @ts-check
/**
 * Sets the height of a message's frame: the frame reports how tall its document is, in browsers that support this
 * (`frame-sizing: content-height`). It needs no script in the frame, which keeps its own origin.
 *
 * The browser measures once, when the document is loaded. For a document that is in the frame before its layout, it
 * reports the height zero, or none; so the document is inserted after the layout. Even then the frame's process often
 * assumes the default frame height of 150 pixels, and no document is reported as lower than its frame. So each document
 * has this much extra space at its end, which the frame's box cuts off. If a browser does not support this, or reports
 * nothing soon after the load, the frame has the estimated height, and scrolls inside if the estimate is too small.
 */

const SIZES_ITSELF = CSS.supports("frame-sizing", "content-height");
/** The space at the end of a document, in pixels: the default height of a frame. */
export const END_PX = SIZES_ITSELF ? 150 : 0;
/** A height above this many estimates was measured wrong, or grows with its frame. */
const MOST_ESTIMATES = 4;
const LEAST_BELIEVED_PX = 400;
const MAX_REMEMBERED = 500;
/** How long after the load a height may be reported. */
const TOLD_MS = 1_000;

/** @type {Map<string, number>} */
const heights = new Map();

/** @param {string} key */
export function remembered(key) {
  return heights.get(key);
}

/** Remembers a height; the oldest is dropped if there are too many. @param {string} key @param {number} height */
export function remember(key, height) {
  heights.delete(key);
  heights.set(key, height);
  for (const oldest of heights.keys()) {
    if (heights.size <= MAX_REMEMBERED) break;
    heights.delete(oldest);
  }
}

/**
 * Shows a document in an empty frame that is already in the page. Returns a function that ends it.
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
  // The first report comes with the frame's layout. The frame runs in another process, which may report late.
  const observer = new ResizeObserver(() => {
    timer ??= setTimeout(load);
    const height = frame.offsetHeight - END_PX;
    if (height > Math.max(LEAST_BELIEVED_PX, MOST_ESTIMATES * estimate)) giveUp();
    else if (height > 0) measured(height);
  });
  observer.observe(frame);
  return end;
}
