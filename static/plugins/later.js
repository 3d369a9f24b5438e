// @ts-check
/** What comes late of plugins: their notes, and the sections of the settings. */
export { AppearanceSection } from "./appearance.js";
export { NotePage } from "./note.js";
export { PluginsSection } from "./settings.js";
