// @ts-check
/** The parts of the settings that are loaded only when first shown: the page, and its own sections. */
export { DisplaySection } from "./display.js";
export { KeysSection } from "./keys.js";
export { SettingsPage, SHORTCUTS } from "./page.js";
