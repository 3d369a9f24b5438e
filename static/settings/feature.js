// @ts-check
/** The entry of the settings in the app's list of features. Most sections belong to other features. */
import { late } from "../late.js";
import { decodePart } from "../router.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { MeSign, meLabel } from "./me_link.js";
import { beginPreferences, forgetPreferences, loadPreferences, startPreferences } from "./preferences.js";

const later = () => import("./later.js");
const DisplaySection = late(later, "DisplaySection");
const KeysSection = late(later, "KeysSection");
const SettingsPage = late(later, "SettingsPage");

const SETTINGS = /^\/settings(?:\/([^/]+))?\/?$/;

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "settings",
  routes: [{ parse, show: ({ section }) => html`<${Shell}><${SettingsPage} section=${section} /></${Shell}>` }],
  nav: [{ at: "end", title: "Settings", icon: "settings", href: () => "/settings",
    also: ["preferences", "options"], label: meLabel, show: MeSign }],
  keys: async () => [{ title: "Settings", shortcuts: (await later()).SHORTCUTS }],
  topics: ["preferences"],
  onEvent: () => void loadPreferences(),
  refetch: () => void loadPreferences(),
  forget: forgetPreferences,
  begin: beginPreferences,
  start: startPreferences,
  settings: [{ name: "display", label: "Display", title: "Display", group: "General", icon: "system", order: 5,
    holds: ["Colours", "Light", "Dark", "Density", "Compact", "Dates", "12 or 24 hours", "Language of dates",
      "First day of the week", "Start page"], show: DisplaySection },
  { name: "keys", label: "Keys", title: "Keys", group: "General", icon: "keyboard", order: 6,
    holds: ["Keyboard shortcuts", "Change a key", "Gmail’s keys"], show: KeysSection }],
  icons: {
    keyboard: "M2.5 5.5h15v9h-15zM5.5 8.5h.01M8.5 8.5h.01M11.5 8.5h.01M14.5 8.5h.01M6.5 11.8h7",
    settings: "M3.5 6h7M14.5 6h2M3.5 14h2M9.5 14h7M12.5 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM7.5 12a2 2 0 1 0 0 4 2 2 0 0 " +
      "0 " +
      "0-4z",
  },
};

/** Parses `/settings`, the first section, and `/settings/<section>`, any other. @param {URL} url */
function parse({ pathname }) {
  const match = SETTINGS.exec(pathname);
  return match && { section: decodePart(match[1] ?? "") };
}
