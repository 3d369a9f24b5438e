// @ts-check
/** What comes late of search by meaning: best matches, and the section of the settings. */
export { BestPage, SHORTCUTS } from "./page.js";
export { MeaningSection } from "./settings.js";
