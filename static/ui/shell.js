// @ts-check
/**
 * The frame around every page: the navigation, a bar at the top with the page's own tabs, search and state; and the
 * banner when the server can't be reached.
 */
import { navAt } from "../feature.js";
import { openDrawer, rail } from "../frame.js";
import { liveState, nextAttemptAt, reconnectNow } from "../live.js";
import { now } from "../now.js";
import { heardAt, standIn, waits } from "../stand_in.js";
import { focusContent } from "./focus.js";
import { ago, plural } from "./format.js";
import { classes, html } from "./html.js";
import { Icon, Mark } from "./icons.js";
import { BottomBar, Drawer, SideNav } from "./nav.js";

/**
 * `tabs`, `search` and `state` are the page's own parts of the bar at the top.
 * @param {{ tabs?: unknown, search?: unknown, state?: unknown, children?: unknown }} props
 */
export function Shell({ tabs, search, state, children }) {
  const own = Boolean(tabs || search || state);
  return html`<div class=${classes({ shell: true, railed: rail.value })}>
    <button class="skip button" onClick=${focusContent}>Skip to the content</button>
    <${SideNav} />
    <div class="stage">
      <header class=${classes({ top: true, bare: !own })}>
        <button class="icon-button top-menu" aria-label="All places" aria-haspopup="dialog" onClick=${openDrawer}>
          <${Icon} name="menu" /></button>
        ${search ?? html`<a class="brand" href="/p/mail" aria-label="svc, to the inbox"><${Mark} />
          <span aria-hidden="true">svc</span></a>`}
        ${tabs}
        <div class="top-end">
          ${state}
          ${navAt("end").map((one) => html`<a key=${one.title} class="icon-button top-me" href=${one.href()}
            aria-label=${one.label?.() ?? one.title} title=${one.label?.() ?? one.title}>
            ${one.show ? html`<${one.show} />` : html`<${Icon} name=${one.icon} />`}</a>`)}
        </div>
      </header>
      <${Banner} />
      ${children}
    </div>
    <${BottomBar} />
    <${Drawer} />
  </div>`;
}

function Banner() {
  const lost = liveState.value === "lost";
  const seconds = Math.max(0, Math.round((nextAttemptAt.value - now.value) / 1000));
  const kept = standIn() && heardAt.value ? `kept ${ago(new Date(heardAt.value).toISOString(), now.value)}` : "";
  const short = [navigator.onLine ? "Reconnecting" : "Offline"];
  if (waits.value > 0) short.push(`${plural(waits.value, "change")} to send`);
  else if (kept) short.push(kept);
  return html`<div role="status" aria-live="polite">
    ${lost && html`<div class="banner">
      <span class="banner-pulse"></span>
      <span class="banner-short">${short.join(": ")}</span>
      <span class="banner-long">${navigator.onLine ? "Reconnecting to the server." : "You are offline."} ${kept
        ? `You see what this browser ${kept}.`
        : "What you see may be out of date."}</span>
      ${waits.value > 0 && html`<span class="banner-long">${plural(waits.value, "change")} will be sent then.</span>`}
      <button class="button small" onClick=${reconnectNow} aria-label="Reconnect now">
        <span>Retry<span class="banner-long">${` now${seconds > 5 ? ` (${seconds} s)` : ""}`}</span></span></button>
    </div>`}
  </div>`;
}
