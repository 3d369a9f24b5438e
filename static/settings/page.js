// @ts-check
/**
 * The page of settings: each section has its own address, and a list of sections under headings is beside it. On a
 * narrow screen the list folds behind the name of the shown section.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { SETTINGS_GROUPS, settingsSections } from "../feature.js";
import { registerKeys } from "../keys.js";
import { navigate } from "../router.js";
import { isAdmin, me } from "../session.js";
import { classes, html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { withKeys } from "../ui/key_words.js";
import { findSettings } from "./search.js";

/** @typedef {import("../feature.js").Section} Section */

const FIELD = "settings-find";
const LIST = "settings-list";
/** @type {import("../keys.js").Shortcut[]} */
export const SHORTCUTS = [
  { keys: ["u", "Escape"], label: "Back to the inbox", run: () => navigate("/p/mail") },
  { keys: ["/"], label: "Find a setting", run: () => document.getElementById(FIELD)?.focus() },
];

/** @param {{ section: string }} props */
export function SettingsPage({ section }) {
  const here = settingsSections().find((one) => one.name === section || one.also?.includes(section));
  const nav = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => registerKeys("Settings", SHORTCUTS), []);
  useEffect(() => {
    document.title = `${here?.title ?? "Settings"} – svc`;
    nav.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [here, isAdmin()]); // whether the person may see the link is known later
  return html`<div class="panel scrolls">
    <div class="settings-frame">
      <nav class="settings-nav" aria-label="Settings" ref=${nav}>
        <a class="settings-link settings-back" href="/p/mail"><${Icon} name="back" /> Inbox</a>
        <${Sections} here=${here} />
      </nav>
      <main class="settings-body">${me.value && html`<${Shown} here=${here} />`}</main>
    </div>
  </div>`;
}

/** @param {{ here: Section | undefined }} props */
function Sections({ here }) {
  const [text, setText] = useState("");
  const [open, setOpen] = useState(false);
  const found = findSettings(settingsSections().filter((one) => !one.adminOnly || isAdmin()), text);
  useEffect(() => setOpen(false), [here]);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing) return;
    if (event.key === "Enter" && text.trim() && found[0]) {
      navigate(href(found[0].section));
    } else if (event.key === "Escape") {
      event.stopPropagation(); // outside this field, Escape leaves the settings
      if (text) setText("");
      else /** @type {HTMLElement} */ (event.target).blur();
    }
  };
  const groups = SETTINGS_GROUPS.map((title) => ({ title, of: found.filter(({ section }) => section.group === title) }))
    .filter(({ of }) => of.length > 0);
  return html`<input id=${FIELD} class="settings-find" type="search" placeholder="Find a setting" value=${text}
      aria-label="Find a setting" title=${withKeys("Find a setting", "Settings /")} autocomplete="off"
      spellcheck=${false}
      onInput=${(/** @type {Event} */ event) => setText(/** @type {HTMLInputElement} */ (event.target).value)}
      onKeyDown=${onKeyDown} />
    <button class="settings-unfold" aria-expanded=${open ? "true" : "false"} aria-controls=${LIST}
      hidden=${text.trim() !== ""} onClick=${() => setOpen(!open)}>
      ${here && html`<${Icon} name=${here.icon} />`}
      <span class="settings-here">${here ? here.label : "Settings"}</span>
      <span class="settings-of">${here?.group}</span>
      <${Icon} name="chevron" size=${14} /></button>
    <div id=${LIST} class=${classes({ "settings-list": true, open: open || text.trim() !== "" })}>
      ${groups.map(({ title, of }, index) => html`<div key=${title} class="settings-group" role="group"
        aria-labelledby=${`settings-group-${index}`}>
        <h2 id=${`settings-group-${index}`}>${title}</h2>
        ${of.map(({ section, holds }) => html`<${NavLink} key=${section.name} to=${section} holds=${holds}
          current=${section === here} />`)}
      </div>`)}</div>
    <p class="settings-none" role="status">${found.length ? "" : "No setting has these words."}</p>`;
}

/** @param {{ to: Section, holds: string[], current: boolean }} props */
function NavLink({ to, holds, current }) {
  return html`<a class="settings-link" href=${href(to)} aria-current=${current ? "page" : undefined}>
    <${Icon} name=${to.icon} /> <span>${to.label}${holds.length > 0
      && html`<span class="settings-holds">${holds.join(", ")}</span>`}</span>
  </a>`;
}

/** @param {Section} section */
function href({ name }) {
  return name ? `/settings/${name}` : "/settings";
}

/** @param {{ here: Section | undefined }} props */
function Shown({ here }) {
  if (!here) return html`<h1>There is no such section</h1><p class="lead">Choose one from the list.</p>`;
  return html`<h1>${here.title}</h1>
    ${here.adminOnly && !isAdmin() ? html`<p class="lead">Only the admins of this workspace see this.</p>`
      : html`<${here.show} />`}`;
}
