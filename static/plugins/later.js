// @ts-check
/** The parts of plugins that are loaded only when first shown: their notes, and the sections of the settings. */
export { AppearanceSection } from "./appearance.js";
export { NotePage } from "./note.js";
export { PluginsSection } from "./settings.js";
