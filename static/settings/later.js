// @ts-check
/** What comes late of the settings: the page, and its own sections. */
export { DisplaySection } from "./display.js";
export { KeysSection } from "./keys.js";
export { SettingsPage, SHORTCUTS } from "./page.js";
