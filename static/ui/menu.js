// @ts-check
/** The shared parts of the app's menus: a button that opens a menu, an entry, keyboard navigation, and positioning. */
import { useEffect, useRef } from "preact/hooks";
import { html } from "./html.js";
import { Icon } from "./icons.js";

const GAP_PX = 4;
const EDGE_PX = 8;

/**
 * A button with its own menu. The menu closes before its entry acts: the button has the focus by then, so a dialog that
 * the entry opens gives the focus back to it. `label` names the button, `about` the menu; `class` is the class of the
 * button. `words` are shown beside its icon.
 * @param {{ id: string, class: string, icon: string, size?: number, label: string, title: string, about: string,
 *   words?: string, children?: unknown }} props
 */
export function MenuButton({ id, class: name, icon, size = 18, label, title, about, words, children }) {
  const menu = useRef(/** @type {HTMLDivElement | null} */ (null));
  const opener = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => {
    const mine = menu.current;
    const place = () => mine && opener.current && placeBelow(mine, opener.current);
    mine?.addEventListener("toggle", place);
    return () => mine?.removeEventListener("toggle", place);
  }, []);
  return html`<button class=${name} ref=${opener} popovertarget=${id} aria-haspopup="true" aria-label=${label}
      title=${title}><${Icon} name=${icon} size=${size} />${words}</button>
    <div id=${id} class="menu" popover="auto" ref=${menu} role="group" aria-label=${about}
      onClickCapture=${() => menu.current?.hidePopover()} onKeyDown=${walkMenu}>${children}</div>`;
}

/** `keys`: the shortcut for it. @param {{ icon: string, words: string, keys?: string, act: () => unknown }} props */
export function MenuItem({ icon, words, keys, act }) {
  return html`<button type="button" onClick=${() => void act()}><${Icon} name=${icon} size=${16} />
    <span>${words}</span>${keys && html`<kbd aria-hidden="true" data-keys=${keys}></kbd>`}</button>`;
}

/** Arrow keys move through the entries; Home and End go to the first and last. @param {KeyboardEvent} event */
export function walkMenu(event) {
  if (!(event.currentTarget instanceof Element)) return;
  const entries = /** @type {HTMLElement[]} */ ([...event.currentTarget.querySelectorAll("a, button")]);
  const at = entries.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  /** @type {Record<string, number>} */
  const places = { ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: -1 };
  const to = places[event.key];
  if (to === undefined) return;
  event.preventDefault();
  entries.at(to % entries.length)?.focus();
}

/**
 * Puts the menu's corner at this point, or as near as the whole menu stays visible.
 * @param {HTMLElement} menu
 * @param {number} x
 * @param {number} y
 */
export function placeAt(menu, x, y) {
  const within = (/** @type {number} */ wanted, /** @type {number} */ most) =>
    `${Math.max(EDGE_PX, Math.min(wanted, most - EDGE_PX))}px`;
  menu.style.left = within(x, innerWidth - menu.offsetWidth);
  menu.style.top = within(y, innerHeight - menu.offsetHeight);
}

/** Below its button, or above if there is no room. @param {HTMLElement} menu @param {HTMLElement} opener */
function placeBelow(menu, opener) {
  const { top, bottom, right } = opener.getBoundingClientRect();
  const fits = bottom + GAP_PX + menu.offsetHeight + EDGE_PX <= innerHeight;
  placeAt(menu, right - menu.offsetWidth, fits ? bottom + GAP_PX : top - GAP_PX - menu.offsetHeight);
}
