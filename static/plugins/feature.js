// @ts-check
/** The entry of plugins in the app's list of features: notes, commands, templates, themes, and settings for admins. */
import { late } from "../late.js";
import { pageHref } from "../pages/paths.js";
import { navigate } from "../router.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { noteHref, parseNoteAddress } from "./address.js";
import { onPluginNews } from "./news.js";
import { offers, wantOffers } from "./offers.js";
import { startStyle } from "./style.js";
import { templates } from "./templates.js";

const later = () => import("./later.js");
const AppearanceSection = late(later, "AppearanceSection");
const NotePage = late(later, "NotePage");
const PluginsSection = late(later, "PluginsSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "plugins",
  routes: [{ parse: parseNoteAddress, show: ({ plugin, note }) => html`<${Shell}><${NotePage}
    key=${`${plugin}/${note}`} plugin=${plugin} note=${note} /></${Shell}>` }],
  topics: ["plugins"],
  onEvent: onPluginNews,
  refetch: onPluginNews,
  start: startStyle,
  prepare: wantOffers,
  commands,
  templates,
  settings: [
    { name: "appearance", label: "Appearance", title: "Appearance", group: "General", icon: "colours", order: 5,
      holds: ["Colours", "Theme"], show: AppearanceSection },
    { name: "plugins", label: "Plugins", title: "Plugins", group: "Server", icon: "plugin", order: 57, adminOnly: true,
      holds: ["Install a plugin", "Package"], show: PluginsSection },
  ],
  icons: {
    colours: "M10 3.5a6.5 6.5 0 1 0 0 13c1.5 0 1.8-1 1.2-1.9-.7-1 0-2.1 1.2-2.1h2a2 2 0 0 0 2-2c0-4-2.9-7-6.4-7z" +
      "M6.7 10h.01M8.5 7h.01M12 7h.01",
    plugin: "M7.5 3.5v4M12.5 3.5v4M5 7.5h10v2.5a5 5 0 0 1-10 0zM10 15v2",
  },
};

/** @returns {import("../feature.js").Command[]} */
function commands() {
  return (offers.value?.palette ?? []).map(({ plugin, title, note, path }) => ({
    id: `plugin ${plugin} ${title}`, label: title, group: plugin,
    run: () => navigate(note === null ? pageHref(path ?? "") : noteHref(plugin, note)),
  }));
}
