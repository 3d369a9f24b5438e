// @ts-check
/**
 * The navigation, built from the features' rows: it shows all places and the current one. It is beside the page, with
 * words or as a rail of icons; on a phone it is a bar below the page with the first places, and a drawer with all.
 */
import { useLayoutEffect, useRef } from "preact/hooks";
import { features, navAt } from "../feature.js";
import { closeDrawer, drawerOpen, openDrawer, rail, toggleNav } from "../frame.js";
import { address, navigate, place } from "../router.js";
import { nextTheme, theme } from "../theme.js";
import { announce } from "./announce.js";
import { number } from "./format.js";
import { helpOpen } from "./help.js";
import { classes, html } from "./html.js";
import { Icon, Mark } from "./icons.js";
import { withKeys } from "./key_words.js";
import { paletteOpen } from "./palette.js";

/** @typedef {import("../feature.js").Nav} Nav */

const THEMES = {
  system: { icon: "system", name: "as the system" },
  light: { icon: "sun", name: "light" },
  dark: { icon: "moon", name: "dark" },
};
/** In the corner of an icon, higher counts are shown as 99+. */
const MAX_IN_RAIL = 99;

/** The navigation beside the page. */
export function SideNav() {
  const narrow = rail.value;
  return html`<nav class="side" aria-label="Workspace">
    <div class="side-head">
      <button class="icon-button" aria-label=${narrow ? "Show the navigation" : "Fold the navigation"}
        title=${narrow ? "Show the navigation (v n)" : "Fold the navigation (v n)"} onClick=${toggleNav}>
        <${Icon} name="menu" /></button>
      <a class="brand" href="/p/mail" aria-label="svc, to the inbox"><${Mark} /><span aria-hidden="true">svc</span></a>
    </div>
    <${NavBody} narrow=${narrow} />
  </nav>`;
}

/** The bar below the page, on a phone. */
export function BottomBar() {
  const shown = ["places", "top"].flatMap((at) => navAt(/** @type {Nav["at"]} */ (at))).filter((one) => one.bar);
  return html`<nav class="bottom-bar" aria-label="Main places">
    ${shown.map((one) => html`<${BarLink} key=${one.title} to=${one} />`)}
    <button class="bar-link" aria-haspopup="dialog" aria-current=${shown.some(isOf) ? undefined : "true"}
      onClick=${openDrawer}><${Icon} name="menu" size=${20} /><span>More</span></button>
  </nav>`;
}

/** @param {{ to: Nav }} props */
function BarLink({ to }) {
  const count = to.count?.() ?? null;
  return html`<a class="bar-link" href=${to.href()} aria-current=${isOf(to) ? "page" : undefined}
    aria-label=${count ? `${to.bar}, ${count.words}` : to.bar}>
    <${Icon} name=${to.icon} size=${20} /><span>${to.bar}</span>
    ${count && html`<b class=${classes({ "bar-count": true, bad: count.bad === true })} data-n=${short(count.n)}
      aria-hidden="true"></b>`}
  </a>`;
}

/** A drawer over the page with all places: on a phone, and where there is room only for a rail. */
export function Drawer() {
  return drawerOpen.value ? html`<${OpenDrawer} />` : null;
}

function OpenDrawer() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => {
    const mine = dialog.current;
    mine?.showModal();
    mine?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest" });
    return () => mine?.close();
  }, []);
  /** A link replaces the drawer's entry in the history. @param {MouseEvent} event */
  const onClick = (event) => {
    const target = event.target instanceof Element ? event.target : null;
    if (target === dialog.current) closeDrawer();
    const link = target?.closest("a");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const to = link.pathname + link.search;
    if (to === location.pathname + location.search) closeDrawer();
    else navigate(to, { replace: true });
    drawerOpen.value = false;
  };
  return html`<dialog class="drawer" ref=${dialog} aria-label="All places" onClose=${closeDrawer} onClick=${onClick}>
    <nav class="side" aria-label="All places">
      <div class="side-head">
        <button class="icon-button" aria-label="Close" onClick=${closeDrawer}><${Icon} name="close" /></button>
        <span class="brand"><${Mark} /><span aria-hidden="true">svc</span></span>
      </div>
      <${NavBody} narrow=${false} />
    </nav>
  </dialog>`;
}

/** @param {{ narrow: boolean }} props */
function NavBody({ narrow }) {
  const { icon, name } = THEMES[theme.value];
  const row = (/** @type {Nav} */ one) => html`<${Row} key=${one.title} to=${one} narrow=${narrow} />`;
  return html`<div class="side-scroll">
      <ul class="side-list">${navAt("places").map(row)}</ul>
      <ul class="side-list">${navAt("top").map(row)}</ul>
      ${!narrow && features().flatMap((one) => one.panels ?? []).map((Panel) =>
        html`<${Panel} key=${Panel.name} />`)}
    </div>
    <div class="side-foot">
      <ul class="side-list">${navAt("end").map(row)}</ul>
      <button class="icon-button" aria-label=${`Colours: ${name}. Change`} title=${`Colours: ${name}`}
        onClick=${nextTheme}><${Icon} name=${icon} /></button>
      <button class="icon-button" aria-label="Find a command" title=${withKeys("Find a command", "Everywhere Mod+k")}
        onClick=${findCommand}><${Icon} name="command" /></button>
      <button class="icon-button help-button" aria-label="Keyboard shortcuts"
        title=${withKeys("Keyboard shortcuts", "Everywhere ?")} onClick=${showHelp}><${Icon} name="help" /></button>
    </div>`;
}

/** @param {{ to: Nav, narrow: boolean }} props */
function Row({ to, narrow }) {
  const { title, icon, keys } = to;
  const count = to.count?.() ?? null;
  const said = to.label?.() ?? (count ? `${title}, ${count.words}` : title);
  return html`<li><a class="side-row" href=${to.href()} aria-current=${isHere(to) ? "page" : undefined}
    aria-label=${said} title=${narrow ? said : keys ? withKeys(title, keys) : undefined}
    onClick=${() => announce(title)}>
    ${to.show ? html`<${to.show} />` : html`<${Icon} name=${icon} />`}
    <span class="side-word">${title}</span>
    ${count && html`<b class=${classes({ "side-count": true, bad: count.bad === true })} aria-hidden="true"
      data-n=${narrow ? short(count.n) : number(count.n)}></b>`}
  </a></li>`;
}

/** The button for the palette: it lists all commands for people without a keyboard. */
function findCommand() {
  closeDrawer();
  paletteOpen.value = true;
}

function showHelp() {
  closeDrawer();
  helpOpen.value = true;
}

/**
 * Whether this is the current place: the row itself says so, or its feature shows the page and no other row says so.
 * @param {Nav} to
 */
function isHere(to) {
  if (to.here) return to.here(address.value);
  const others = ["places", "top", "end"].flatMap((at) => navAt(/** @type {Nav["at"]} */ (at)));
  return isOf(to) && !others.some((one) => one.here?.(address.value));
}

/** Whether the feature of this row shows the current page. @param {Nav} to */
function isOf(to) {
  const { route } = place.value;
  return route !== null && features().some((row) => row.nav?.includes(to) && row.routes?.includes(route));
}

/** @param {number} count */
function short(count) {
  return count > MAX_IN_RAIL ? `${MAX_IN_RAIL}+` : String(count);
}
