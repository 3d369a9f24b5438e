// @ts-check
/** The parts of runs that are loaded only when first shown: the pages, and the section of the settings. */
export { AgentsSection } from "./agents_settings.js";
export { RunsPage, SHORTCUTS } from "./list.js";
export { RunPage, shortcuts } from "./run.js";
