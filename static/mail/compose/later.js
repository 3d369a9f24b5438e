// @ts-check
/** Asks for a time to send, in a panel above its button. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useCloseRequest } from "../../ui/close_request.js";
import { html } from "../../ui/html.js";
import { TimeChooser } from "../times/chooser.js";

/**
 * @param {{ title: string, choose: (sendAt: string) => void, close: () => void }} props `close`: without a choice
 */
export function LaterPanel({ title, choose, close }) {
  const panel = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [before] = useState(() => document.activeElement); // the field takes the focus at once
  useLayoutEffect(() => {
    const mine = panel.current;
    return () => {
      const lost = document.activeElement === document.body || mine?.contains(document.activeElement);
      if (lost && before instanceof HTMLElement) before.focus();
    };
  }, []);
  useEffect(() => {
    const outside = (/** @type {Event} */ event) => {
      if (event.target instanceof Node && !panel.current?.contains(event.target)) close();
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, []);
  useCloseRequest(close);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  return html`<div class="later" role="dialog" aria-label=${title} ref=${panel} onKeyDown=${onKeyDown}>
    <p class="later-title" aria-hidden="true">${title}</p>
    <${TimeChooser} id="later" label=${`${title}: when`} choose=${(/** @type {Date} */ at) => choose(at.toISOString())}
    />
  </div>`;
}
