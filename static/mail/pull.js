// @ts-check
/**
 * Pull to refresh: a finger pulls the top of the list down to check for new mail. A button and a command do the same.
 *
 * Theory. Vertical movement belongs to the browser (`touch-action: pan-y`), which cancels the pointer then. Touch
 * events continue, and where there is nothing to scroll all of them arrive; so this module only listens to them and
 * never prevents them, and scrolling never waits for it. Owns how far the list is pulled now.
 */
import { signal } from "@preact/signals";
import { classes, html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { checking } from "./checking.js";

/** A shorter movement is an unsteady tap. */
const BEGINS_PX = 10;
/** The sign moves half as far as the finger. */
const FOLLOWS = 0.5;
/** The sign's distance from which letting go checks for mail. */
const HAPPENS_PX = 56;
const MOST_PX = 72;

/** The sign's distance below the edge. */
export const pulled = signal(0);

/**
 * @param {HTMLElement} scroller
 * @param {() => void} happens
 * @returns {() => void} ends it
 */
export function watchPull(scroller, happens) {
  /** @type {{ x: number, y: number, down: boolean } | null} */
  let held = null;
  const letGo = () => {
    held = null;
    pulled.value = 0;
  };
  const take = (/** @type {TouchEvent} */ { touches: [first, second] }) => {
    letGo();
    if (first && !second && scroller.scrollTop <= 0) held = { x: first.clientX, y: first.clientY, down: false };
  };
  const pull = (/** @type {TouchEvent} */ { touches: [finger] }) => {
    if (!held || !finger) return;
    const [by, aside] = [finger.clientY - held.y, Math.abs(finger.clientX - held.x)];
    if (!held.down && Math.max(Math.abs(by), aside) < BEGINS_PX) return;
    held.down ||= by > aside;
    if (!held.down || scroller.scrollTop > 0) letGo();
    else pulled.value = Math.max(0, Math.min(MOST_PX, by * FOLLOWS));
  };
  const end = () => {
    const far = pulled.value >= HAPPENS_PX;
    letGo();
    if (far) happens();
  };
  /** @type {[keyof HTMLElementEventMap, (event: any) => void][]} */
  const heard = [["touchstart", take], ["touchmove", pull], ["touchend", end], ["touchcancel", letGo]];
  for (const [name, listener] of heard) scroller.addEventListener(name, listener, { passive: true });
  return () => heard.forEach(([name, listener]) => scroller.removeEventListener(name, listener));
}

/** The sign at the upper edge of the list: shows what letting go will do, and then that it is under way. */
export function PullSign() {
  const far = pulled.value >= HAPPENS_PX;
  const shown = checking.value || pulled.value > 0;
  return html`<div class="pull">
    <span class="sr-only" role="status">${checking.value && "Checking for new mail"}</span>
    ${shown && html`<span class=${classes({ "pull-sign": true, far, checking: checking.value })} aria-hidden="true"
      style=${checking.value ? {} : { translate: `0 ${pulled.value - MOST_PX / 2}px`,
        opacity: pulled.value / HAPPENS_PX }}>
      <${Icon} name=${checking.value ? "again" : "down"} size=${18} />
      ${checking.value ? "Checking" : far ? "Let go to check" : "Pull to check"}</span>`}
  </div>`;
}
