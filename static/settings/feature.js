// @ts-check
/** The settings, as the app's list has them; their sections come with the other features. */
import { decodePart } from "../router.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { DisplaySection } from "./display.js";
import { MeSign, meLabel } from "./me_link.js";
import { SettingsPage } from "./page.js";

const SETTINGS = /^\/settings(?:\/([^/]+))?\/?$/;

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "settings",
  routes: [{ parse, show: ({ section }) => html`<${Shell}><${SettingsPage} section=${section} /></${Shell}>` }],
  nav: [{ at: "end", title: "Settings", icon: "settings", href: () => "/settings", label: meLabel,
    show: MeSign }],
  settings: [{ name: "display", label: "Display", title: "Display", icon: "system", order: 5,
    holds: ["Colours", "Light", "Dark", "Density", "Compact"], show: DisplaySection }],
  icons: {
    settings: "M3.5 6h7M14.5 6h2M3.5 14h2M9.5 14h7M12.5 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM7.5 12a2 2 0 1 0 0 4 2 2 0 0 " +
      "0 " +
      "0-4z",
  },
};

/** `/settings` is the first section; `/settings/<section>` any other. @param {URL} url */
function parse({ pathname }) {
  const match = SETTINGS.exec(pathname);
  return match && { section: decodePart(match[1] ?? "") };
}
