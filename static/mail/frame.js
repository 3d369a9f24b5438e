// @ts-check
/**
 * The sandboxed frame that shows a message's HTML: no script, an origin of its own, no network.
 *
 * The policy stands first in its head, so that nothing is asked of the network however the HTML came to be. The paper
 * is light in every theme: that is what senders design for. A frame takes the keyboard when it is clicked; it is given
 * back to the page, so that shortcuts go on working.
 */
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { estimateHeight } from "./height.js";
import { frameDocument, parseInert } from "./paper.js";

const SANDBOX = "allow-popups allow-popups-to-escape-sandbox";
const EXPANDED_VIEWPORTS = 0.9;

/** @param {{ body: string, title: string, children?: unknown }} props `children`: more buttons at its foot */
export function MessageFrame({ body, title, children }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [width, setWidth] = useState(0);
  const [expanded, setExpanded] = useState(false);
  useLayoutEffect(() => setWidth(box.current?.clientWidth ?? 0), []);
  const estimate = useMemo(() => (width ? estimateHeight(parseInert(body), width) : 0), [body, width]);
  const source = useMemo(() => frameDocument(parseInert(body)), [body]);
  const height = expanded ? Math.max(estimate * 1.6, innerHeight * EXPANDED_VIEWPORTS) : estimate;
  return html`<div class="frame">
    <div class="frame-box" ref=${box} style=${{ height: `${Math.round(height)}px` }}>
      ${width > 0 && html`<iframe title=${title} sandbox=${SANDBOX} srcdoc=${source} referrerpolicy="no-referrer"></iframe>`}
    </div>
    <div class="frame-foot">
      <button aria-expanded=${expanded ? "true" : "false"} onClick=${() => setExpanded(!expanded)}>
        <${Icon} name="expand" size=${14} /> ${expanded ? "Less room" : "More room"}
      </button>
      ${children}
    </div>
  </div>`;
}

/** Begin to give the keyboard back to the page. Called once. */
export function startFrameFocus() {
  addEventListener("blur", () => {
    // The frame becomes the active element only after this event.
    setTimeout(() => {
      const active = document.activeElement;
      if (!(active instanceof HTMLIFrameElement)) return;
      active.blur();
      const card = active.closest("[tabindex]");
      if (card instanceof HTMLElement) card.focus({ preventScroll: true });
    });
  });
}
