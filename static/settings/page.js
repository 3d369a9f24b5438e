// @ts-check
/** The settings: one section an address, a list of them beside it. */
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { settingsSections } from "../feature.js";
import { registerKeys } from "../keys.js";
import { navigate } from "../router.js";
import { isAdmin, me } from "../session.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

/** @typedef {import("../feature.js").Section} Section */

/** @type {import("../keys.js").Shortcut[]} */
const SHORTCUTS = [{ keys: ["u", "Escape"], label: "Back to the inbox", run: () => navigate("/p/mail") }];

/** @param {{ section: string }} props */
export function SettingsPage({ section }) {
  const here = settingsSections().find((one) => one.name === section);
  const nav = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => registerKeys("Settings", SHORTCUTS), []);
  useEffect(() => {
    document.title = `${here?.title ?? "Settings"} – svc`;
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [here, isAdmin()]); // who may see the link is known later
  return html`<div class="panel settings">
    <div class="settings-frame">
      <nav class="settings-nav" aria-label="Settings" ref=${nav}>
        <a class="settings-link" href="/p/mail"><${Icon} name="back" /> Inbox</a>
        ${settingsSections().filter((one) => !one.adminOnly || isAdmin())
          .map((one) => html`<${NavLink} key=${one.name} to=${one} current=${one === here} />`)}
      </nav>
      <main class="settings-body">${me.value && html`<${Shown} here=${here} />`}</main>
    </div>
  </div>`;
}

/** @param {{ to: Section, current: boolean }} props */
function NavLink({ to, current }) {
  return html`<a class="settings-link" href=${to.name ? `/settings/${to.name}` : "/settings"}
    aria-current=${current ? "page" : undefined}>
    <${Icon} name=${to.icon} /> ${to.label}
  </a>`;
}

/** @param {{ here: Section | undefined }} props */
function Shown({ here }) {
  if (!here) return html`<h1>There is no such section</h1><p class="lead">Choose one from the list.</p>`;
  return html`<h1>${here.title}</h1>
    ${here.adminOnly && !isAdmin() ? html`<p class="lead">Only the admins of this workspace see this.</p>`
      : html`<${here.show} />`}`;
}
