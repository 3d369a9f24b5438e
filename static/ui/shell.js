// @ts-check
/** The frame around every page: brand, the page's own tabs and state, theme, help; and the banner when the server is away. */
import { liveState, nextAttemptAt, reconnectNow } from "../live.js";
import { now } from "../now.js";
import { me } from "../session.js";
import { troubled, waiting } from "../tasks/outgoing.js";
import { nextTheme, theme } from "../theme.js";
import { Avatar } from "./avatar.js";
import { helpOpen } from "./help.js";
import { plural } from "./format.js";
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
        <${TasksLink} />
        <a class="icon-button" href="/p/" aria-label="Pages" title="Pages"><${Icon} name="page" /></a>
        <button class="icon-button" aria-label=${`Colours: ${name}. Change`} title=${`Colours: ${name}`} onClick=${nextTheme}><${Icon} name=${icon} /></button>
        <button class="icon-button help-button" aria-label="Keyboard shortcuts" title="Keyboard shortcuts (?)" aria-keyshortcuts="?"
          onClick=${() => { helpOpen.value = true; }}><${Icon} name="help" /></button>
        <${Me} />
      </div>
    </header>
    <${Banner} />
    ${children}
  </div>`;
}

/** The way to what is scheduled or on its way, with how much there is. */
function TasksLink() {
  const count = waiting.value.length;
  const bad = troubled.value.length;
  const parts = [count - bad > 0 && `${count - bad} scheduled`, bad > 0 && `${plural(bad, "needs", "need")} your word`].filter(Boolean);
  const title = count ? `Tasks, ${count}: ${parts.join(", ")}` : "Tasks";
  return html`<a class="icon-button tasks-link" href="/p/tasks" aria-label=${title} title=${title}>
    <${Icon} name="tasks" />${count > 0 && html`<span class=${`tasks-count${bad ? " bad" : ""}`} aria-hidden="true">${count}</span>`}
  </a>`;
}

/** The way to the settings: one's own initial, or a plain sign while nobody is signed in. */
function Me() {
  const user = me.value?.user;
  const title = user ? `Settings. Signed in as ${user.email}` : "Settings";
  return html`<a class="icon-button me-button" href="/settings" aria-label=${title} title=${title}>
    ${user ? html`<${Avatar} person=${{ name: user.name, address: user.email }} />` : html`<${Icon} name="settings" />`}
  </a>`;
}

function Banner() {
  const lost = liveState.value === "lost";
  const seconds = Math.max(0, Math.round((nextAttemptAt.value - now.value) / 1000));
  return html`<div role="status" aria-live="polite">
    ${lost && html`<div class="banner">
      <span class="banner-pulse"></span>
      <span>${navigator.onLine ? "Reconnecting to the server." : "You are offline."} What you see may be out of date.</span>
      <button class="button small" onClick=${reconnectNow} aria-label="Reconnect now">${seconds > 5 ? `Retry now (${seconds} s)` : "Retry now"}</button>
    </div>`}
  </div>`;
}
