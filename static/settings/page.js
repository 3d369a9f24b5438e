// @ts-check
/** The settings: one section an address, a list of them beside it. */
import { useEffect, useRef } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { navigate } from "../router.js";
import { isAdmin, me } from "../session.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { AccountsSection } from "./accounts.js";
import { DevicesSection } from "./devices.js";
import { ImagesSection } from "./images.js";
import { ProfileSection } from "./profile.js";
import { SessionsSection } from "./sessions.js";
import { SignaturesSection } from "./signatures.js";
import { UsersSection } from "./users.js";

/** @typedef {{ name: string, label: string, title: string, icon: string, adminOnly?: boolean, show: () => any }} Section */

/** @type {Section[]} In the order of the list; the first one is /settings itself. */
export const SECTIONS = [
  { name: "", label: "Profile", title: "Profile", icon: "person", show: ProfileSection },
  { name: "accounts", label: "Accounts", title: "Mail accounts", icon: "inbox", show: AccountsSection },
  { name: "signatures", label: "Signatures", title: "Signatures", icon: "edit", show: SignaturesSection },
  { name: "images", label: "Images", title: "Images in mail", icon: "image", show: ImagesSection },
  { name: "users", label: "Users", title: "Users and invites", icon: "people", adminOnly: true, show: UsersSection },
  { name: "devices", label: "Devices", title: "Devices", icon: "device", show: DevicesSection },
  { name: "sessions", label: "Sessions", title: "Sessions", icon: "browser", show: SessionsSection },
];

/** @type {import("../keys.js").Shortcut[]} */
const SHORTCUTS = [{ keys: ["u", "Escape"], label: "Back to the inbox", run: () => navigate("/p/mail") }];

/** @param {{ section: string }} props */
export function SettingsPage({ section }) {
  const here = SECTIONS.find((one) => one.name === section);
  const nav = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => registerKeys("Settings", SHORTCUTS), []);
  useEffect(() => {
    document.title = `${here?.title ?? "Settings"} – svc`;
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [here]);
  return html`<div class="panel settings">
    <div class="settings-frame">
      <nav class="settings-nav" aria-label="Settings" ref=${nav}>
        <a class="settings-link" href="/p/mail"><${Icon} name="back" /> Inbox</a>
        ${SECTIONS.filter((one) => !one.adminOnly || isAdmin()).map((one) => html`<${NavLink} key=${one.name} to=${one} current=${one === here} />`)}
      </nav>
      <main class="settings-body">${me.value && html`<${Shown} here=${here} />`}</main>
    </div>
  </div>`;
}

/** @param {{ to: Section, current: boolean }} props */
function NavLink({ to, current }) {
  return html`<a class="settings-link" href=${to.name ? `/settings/${to.name}` : "/settings"} aria-current=${current ? "page" : undefined}>
    <${Icon} name=${to.icon} /> ${to.label}
  </a>`;
}

/** @param {{ here: Section | undefined }} props */
function Shown({ here }) {
  if (!here) return html`<h1>There is no such section</h1><p class="lead">Choose one from the list.</p>`;
  return html`<h1>${here.title}</h1>
    ${here.adminOnly && !isAdmin() ? html`<p class="lead">Only the admins of this workspace see this.</p>` : html`<${here.show} />`}`;
}
