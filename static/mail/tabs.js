// @ts-check
/**
 * The tabs: the unified inbox, then one per account, with the count of unread threads in the inbox. Those that do not
 * fit are in a menu behind "+3 ·7", so that the person sees that there are more.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { mailPath } from "./address.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { number, plural } from "../ui/format.js";
import { accounts, unifiedUnread } from "./accounts.js";
import { CutAddress } from "./address_cut.js";
import { connectOpen } from "./connect.js";
import { FiltersButton } from "./filters.js";
import { fitting } from "./tabs_fit.js";

/** The characters that a tab shows at least: on a phone. */
const ROOM = 8;

/**
 * @typedef {{ id: string, title: string, unread: number, href: string, owner: string | null, trouble: boolean }} One
 */

/**
 * `filters`: whether the shown list has filters.
 * @param {{ accountId: string | null, only: import("./address.js").Filter | null, filters: boolean }} props
 */
export function Tabs({ accountId, only, filters }) {
  const known = accounts.value ?? [];
  const bar = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [hidden, setHidden] = useState(/** @type {readonly string[]} */ ([]));
  /** @type {One[]} */
  const all = [
    { id: "", title: "Unified", unread: unifiedUnread.value, href: mailPath(null), owner: null, trouble: false },
    ...known.map(({ id, address, unread, owner, state }) => ({ id, title: address, unread, href: mailPath(id),
      owner: owner ?? null, trouble: state === "reconnect" })),
  ];
  const current = accountId ?? "";
  const words = all.map((one) => `${one.title} ${one.unread} ${one.trouble}`).join();
  useLayoutEffect(() => {
    const mine = bar.current;
    if (!mine) return undefined;
    const most = `+${all.length} ·${number(all.reduce((sum, one) => sum + (one.id ? one.unread : 0), 0))}`;
    const look = () => setHidden((before) => {
      const found = overflow(mine, current, most);
      return found.join() === before.join() ? before : found;
    });
    const observer = new ResizeObserver(look); // reports the size at once, when it is laid out and not yet painted
    observer.observe(mine);
    return () => observer.disconnect();
  }, [words, current]);
  if (!known.length) return html`<div class="tabs"></div>`;
  const rest = all.filter((one) => hidden.includes(one.id));
  return html`<div class="tabs" ref=${bar}>
    <div class="tabs-scroll" role="tablist" aria-label="Mailboxes" onKeyDown=${onKeyDown}>
      ${all.map((one) => html`<${Tab} key=${one.id} one=${one} current=${one.id === current}
        away=${hidden.includes(one.id)} others=${all} />`)}
    </div>
    ${rest.length > 0 && html`<${Rest} rest=${rest} />`}
    <button class="icon-button tab-add" aria-label="Connect another account" title="Connect another account"
      onClick=${() => { connectOpen.value = true; }}><${Icon} name="plus" /></button>
    ${filters && html`<${FiltersButton} only=${only} />`}
  </div>`;
}

/**
 * `away`: the tab is in the menu.
 * @param {{ one: One, current: boolean, away: boolean, others: One[] }} props
 */
function Tab({ one: { id, title, unread, href, owner, trouble }, current, away, others }) {
  const spoken = [title, owner !== null && `shared by ${owner}`, unread > 0 && plural(unread, "unread thread"),
    trouble && "needs to be connected again"];
  return html`<a
    class=${`tab${away ? " away" : ""}`} role="tab" href=${href} aria-selected=${current ? "true" : "false"}
    aria-controls="mail-panel" data-tab=${id}
    tabindex=${current ? 0 : -1} aria-label=${spoken.filter(Boolean).join(", ")}
  >
    ${owner !== null && html`<${Icon} name="people" size=${14} />`}
    <span class="tab-title" title=${owner === null ? title : `${title}, shared by ${owner}`}><${CutAddress}
      address=${title} others=${others.map((other) => other.title)} room=${ROOM} /></span>
    ${unread > 0 && html`<span class="tab-badge">${` ·${number(unread)}`}</span>`}
    ${trouble && html`<span class="sync-dot bad"></span>`}
  </a>`;
}

/** The menu of the other tabs: their number, their unread count, and a link to each. @param {{ rest: One[] }} props */
function Rest({ rest }) {
  const menu = useRef(/** @type {HTMLDivElement | null} */ (null));
  const unread = rest.reduce((sum, one) => sum + one.unread, 0);
  const trouble = rest.some((one) => one.trouble);
  useEffect(() => {
    const mine = menu.current;
    const onToggle = () => mine?.matches(":popover-open") && mine.querySelector("a")?.focus();
    mine?.addEventListener("toggle", onToggle);
    return () => mine?.removeEventListener("toggle", onToggle);
  }, []);
  return html`<div class="tabs-rest">
    <button class="tab-more" popovertarget="tabs-menu" aria-haspopup="true" aria-label=${[
      `+${rest.length}: ${plural(rest.length, "more account")}`, unread > 0 && plural(unread, "unread thread"),
      trouble && "one needs to be connected again"].filter(Boolean).join(", ")}>
      +${rest.length}${unread > 0 && html`<span class="tab-badge" data-n=${` ·${number(unread)}`}></span>`}
      ${trouble && html`<span class="sync-dot bad"></span>`}</button>
    <div id="tabs-menu" class="tabs-menu" popover="auto" ref=${menu} onClick=${() => menu.current?.hidePopover()}
      onKeyDown=${onMenuKey}>
      <ul>${rest.map(({ id, title, unread: count, href }) => html`<li key=${id}><a href=${href}
        aria-label=${count > 0 ? `${title}, ${plural(count, "unread thread")}` : title}>
        <span><bdi>${title}</bdi></span>
        ${count > 0 && html`<b class="tab-badge" data-n=${number(count)} aria-hidden="true"></b>`}</a></li>`)}</ul>
    </div>
  </div>`;
}

/** Which tabs do not fit. @param {HTMLElement} bar @param {string} current @param {string} more on their button */
function overflow(bar, current, more) {
  const tabs = /** @type {HTMLElement[]} */ ([...bar.querySelectorAll("[role=tab]")]);
  const others = [...bar.children].filter((one) => !one.matches(".tabs-scroll, .tabs-rest"));
  const taken = others.reduce((sum, one) => sum + one.getBoundingClientRect().width, 0);
  const widths = tabs.map((one) => ({ id: one.dataset.tab ?? "", width: one.getBoundingClientRect().width }));
  return fitting(widths, current, bar.clientWidth - taken, more);
}

/** Arrow keys move along the tabs and open them. @param {KeyboardEvent} event */
function onKeyDown(event) {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (!step || !(event.target instanceof Element)) return;
  event.preventDefault();
  const tabs = /** @type {HTMLElement[]} */ ([.../** @type {Element} */ (event.currentTarget)
    .querySelectorAll("[role=tab]:not(.away)")]);
  const next = tabs[(tabs.indexOf(/** @type {HTMLElement} */ (event.target)) + step + tabs.length) % tabs.length];
  next?.focus();
  next?.click();
}

/** Arrow keys move along the links. @param {KeyboardEvent} event */
function onMenuKey(event) {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (!step || !(event.currentTarget instanceof Element)) return;
  event.preventDefault();
  const links = [...event.currentTarget.querySelectorAll("a")];
  const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
  links[(at + step + links.length) % links.length]?.focus();
}
