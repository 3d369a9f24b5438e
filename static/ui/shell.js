// @ts-check
/**
 * The frame around every page: brand, the page's own tabs and state, theme, help; and the banner when the server is
 * away.
 */
import { navAt } from "../feature.js";
import { liveState, nextAttemptAt, reconnectNow } from "../live.js";
import { now } from "../now.js";
import { heardAt, standIn, waits } from "../stand_in.js";
import { nextTheme, theme } from "../theme.js";
import { ago, plural } from "./format.js";
import { helpOpen } from "./help.js";
import { html } from "./html.js";
import { Icon, Mark } from "./icons.js";

const THEMES = {
  system: { icon: "system", name: "as the system" },
  light: { icon: "sun", name: "light" },
  dark: { icon: "moon", name: "dark" },
};

/** @param {{ tabs?: unknown, state?: unknown, children?: unknown }} props */
export function Shell({ tabs, state, children }) {
  const { icon, name } = THEMES[theme.value];
  return html`<div class="shell">
    <header class="top">
      <a class="brand" href="/p/mail" aria-label="svc, to the inbox"><${Mark} /><span aria-hidden="true">svc</span></a>
      ${tabs}
      <div class="top-end">
        ${state}
        ${navAt("top").map((one) => html`<${NavLink} key=${one.title} to=${one} />`)}
        <button class="icon-button" aria-label=${`Colours: ${name}. Change`} title=${`Colours: ${name}`}
          onClick=${nextTheme}><${Icon} name=${icon} /></button>
        <button class="icon-button help-button" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)"
          aria-keyshortcuts="?"
          onClick=${() => { helpOpen.value = true; }}><${Icon} name="help" /></button>
        ${navAt("end").map((one) => html`<${NavLink} key=${one.title} to=${one} />`)}
      </div>
    </header>
    <${Banner} />
    ${children}
  </div>`;
}

/** @param {{ to: import("../feature.js").Nav }} props */
function NavLink({ to }) {
  if (to.show) return html`<${to.show} />`;
  return html`<a class="icon-button" href=${to.href()} aria-label=${to.title} title=${to.title}>
    <${Icon} name=${to.icon} /></a>`;
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
        Retry<span class="banner-long">${` now${seconds > 5 ? ` (${seconds} s)` : ""}`}</span></button>
    </div>`}
  </div>`;
}
