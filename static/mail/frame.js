// @ts-check
/**
 * The sandboxed frame that shows a message's HTML: no scripts, its own origin, no network.
 *
 * The policy is the first element of its head, so that nothing is loaded from the network, whatever the HTML contains.
 * `dark_paper.js` decides on which paper it is shown. A frame takes the focus when it is clicked; the page takes it
 * back so that shortcuts keep working, and lends it to the frame for the moment of a copy.
 */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { hasColours } from "./colours.js";
import { appIsDark, isOnDarkPaper, setDarkPaper } from "./dark_paper.js";
import { fit } from "./fit.js";
import { estimateHeight } from "./height.js";
import { remember, remembered, showIn } from "./sheet.js";
import { TURN, frameDocument, parseInert, placeImages } from "./paper.js";

const SANDBOX = "allow-popups allow-popups-to-escape-sandbox";
const LENT_MS = 1_200;
const FOLLOWED_MS = 3_000;
const LOOK_AGAIN_MS = 20;

/** @type {import("./images.js").Images} */
const NO_IMAGES = new Map();

/**
 * @param {{ id?: string, body: string, title: string, images?: import("./images.js").Images, folded?: boolean,
 *   below?: unknown }} props
 *   `id`: of the message; `folded`: without the parts marked as known; `below`: content below it
 */
export function MessageFrame({ id = "", body, title, images = NO_IMAGES, folded = false, below }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const width = useWidth(box);
  const coloured = useMemo(() => hasColours(parseInert(body)), [body]);
  const dark = isOnDarkPaper(coloured);
  const estimate = useMemo(() => (width ? estimateHeight(placeImages(parseInert(body, folded), images), width) : 0),
    [body, folded, images, width]);
  const source = useMemo(() => frameDocument(fit(placeImages(parseInert(body, folded), images), width), images, dark,
    width), [body, folded, images, dark, width]);
  const key = id && `${id} ${width} ${images.size} ${folded ? "folded" : "whole"}`;
  const [height, measured] = useHeight(key, source, estimate);
  return html`<div class="frame">
    <div class=${dark ? "frame-box dark" : "frame-box"} ref=${box}
      style=${{ height: height ? `${height}px` : "", filter: dark ? TURN : "" }}>
      ${width > 0 && html`<${Sheet} key=${source} source=${source} title=${title} estimate=${estimate}
        measured=${measured} />`}
    </div>
    ${below}
    ${appIsDark.value && html`<div class="frame-foot">
      <button aria-pressed=${dark ? "true" : "false"} onClick=${() => setDarkPaper(!dark)}>
        <${Icon} name=${dark ? "sun" : "moon"} size=${14} /> ${dark ? "Light paper" : "Dark paper"}
      </button>
    </div>`}
  </div>`;
}

/** @param {{ source: string, title: string, estimate: number, measured: (height: number) => void }} props */
function Sheet({ source, title, estimate, measured }) {
  const frame = useRef(/** @type {HTMLIFrameElement | null} */ (null));
  useLayoutEffect(() => {
    if (frame.current) return showIn(frame.current, source, estimate, measured);
  }, [source]);
  return html`<iframe ref=${frame} title=${title} sandbox=${SANDBOX} referrerpolicy="no-referrer"></iframe>`;
}

/**
 * The available width for the frame in pixels, updated when the window changes.
 * @param {{ current: HTMLElement | null }} box
 */
function useWidth(box) {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = /** @type {HTMLElement} */ (box.current);
    const look = () => {
      const { paddingLeft, paddingRight } = getComputedStyle(element);
      setWidth(Math.floor(element.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight)));
    };
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return width;
}

/**
 * The height of the frame: the measured one, else an earlier measured one, else the estimate.
 * @param {string} key @param {string} source @param {number} estimate
 * @returns {[number, (height: number) => void]}
 */
function useHeight(key, source, estimate) {
  const [found, setFound] = useState({ source: "", height: 0 });
  const measured = (/** @type {number} */ height) => {
    if (key) remember(key, height);
    setFound({ source, height });
  };
  return [found.source === source ? found.height : remembered(key) ?? Math.round(estimate), measured];
}

/** The frame that was clicked last: Ctrl+C copies the selection in it. @type {HTMLIFrameElement | null} */
let lastFrame = null;
let lent = false;

/** Starts to return the focus from frames to the page. Called once. */
export function startFrameFocus() {
  addEventListener("blur", followFocus);
  addEventListener("keydown", (event) => {
    if (event.key === "Control" || event.key === "Meta") lend();
  });
}

/**
 * The page has lost the focus, perhaps to a frame. The frame becomes the active element only after this event; if it
 * runs in another process, the delay is not defined.
 */
function followFocus() {
  const until = performance.now() + FOLLOWED_MS;
  const look = () => {
    if (document.activeElement instanceof HTMLIFrameElement) {
      lastFrame = document.activeElement;
      if (!lent) takeBack();
    } else if (performance.now() < until) {
      timer = setTimeout(look, LOOK_AGAIN_MS);
    }
  };
  let timer = setTimeout(look);
  addEventListener("focus", () => clearTimeout(timer), { once: true });
}

/** Lends the focus to the frame after Ctrl was pressed: a copy may follow, and only the frame has the selected text. */
function lend() {
  const inUse = document.activeElement?.closest("[tabindex]")?.contains(lastFrame);
  if (!lastFrame?.isConnected || !inUse) return;
  lent = true;
  lastFrame.focus({ preventScroll: true });
  setTimeout(() => {
    lent = false;
    takeBack();
  }, LENT_MS);
}

function takeBack() {
  const frame = document.activeElement;
  if (!(frame instanceof HTMLIFrameElement)) return;
  frame.blur();
  const card = frame.closest("[tabindex]");
  if (card instanceof HTMLElement) card.focus({ preventScroll: true });
}
