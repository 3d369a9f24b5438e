// @ts-check
/**
 * The sandboxed frame that shows a message's HTML: no script, an origin of its own, no network.
 *
 * The policy stands first in its head, so that nothing is asked of the network however the HTML came to be. The paper
 * is light in every theme, unless somebody asks otherwise: that is what senders design for. A frame takes the keyboard
 * when it is clicked; it is given back to the page, so that shortcuts go on working, and lent again for the moment of a
 * copy.
 */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { appIsDark, darkPaper, setDarkPaper } from "./dark_paper.js";
import { fit } from "./fit.js";
import { estimateHeight } from "./height.js";
import { TURN, frameDocument, parseInert, placeImages } from "./paper.js";

const SANDBOX = "allow-popups allow-popups-to-escape-sandbox";
const EXPANDED_VIEWPORTS = 0.9;
const LENT_MS = 1_200;
const FOLLOWED_MS = 3_000;
const LOOK_AGAIN_MS = 20;

/** @type {import("./images.js").Images} */
const NO_IMAGES = new Map();

/**
 * @param {{ body: string, title: string, images?: import("./images.js").Images, children?: unknown }} props
 *   `children`: more buttons at its foot
 */
export function MessageFrame({ body, title, images = NO_IMAGES, children }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [width, setWidth] = useState(0);
  const [expanded, setExpanded] = useState(false);
  useLayoutEffect(() => setWidth(box.current?.clientWidth ?? 0), []);
  const dark = darkPaper.value;
  const estimate = useMemo(() => (width ? estimateHeight(placeImages(parseInert(body), images), width) : 0),
    [body, images, width]);
  const source = useMemo(() => frameDocument(fit(placeImages(parseInert(body), images), width), images, dark),
    [body, images, dark, width]);
  const height = expanded ? Math.max(estimate * 1.6, innerHeight * EXPANDED_VIEWPORTS) : estimate;
  return html`<div class="frame">
    <div class="frame-box" ref=${box} style=${{ height: `${Math.round(height)}px`, filter: dark ? TURN : "" }}>
      ${width > 0 && html`<iframe title=${title} sandbox=${SANDBOX} srcdoc=${source} referrerpolicy="no-referrer">
        </iframe>`}
    </div>
    <div class="frame-foot">
      <button aria-expanded=${expanded ? "true" : "false"} onClick=${() => setExpanded(!expanded)}>
        <${Icon} name="expand" size=${14} /> ${expanded ? "Less room" : "More room"}
      </button>
      ${children}
      ${appIsDark.value && html`<button aria-pressed=${dark ? "true" : "false"} onClick=${() => setDarkPaper(!dark)}>
        <${Icon} name=${dark ? "sun" : "moon"} size=${14} /> ${dark ? "Light paper" : "Dark paper"}
      </button>`}
    </div>
  </div>`;
}

/** The frame that was clicked last: what was marked in it is what Ctrl+C means. @type {HTMLIFrameElement | null} */
let lastFrame = null;
let lent = false;

/** Begin to give the keyboard back to the page. Called once. */
export function startFrameFocus() {
  addEventListener("blur", followFocus);
  addEventListener("keydown", (event) => {
    if (event.key === "Control" || event.key === "Meta") lend();
  });
}

/**
 * The page has lost the keyboard, perhaps to a frame. That becomes the active element only after this event, and where
 * it lives in another process it is not said how long after.
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

/** What comes after Ctrl is a copy, perhaps, and only the frame has the marked text: lend it the keyboard for it. */
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
