// @ts-check
/**
 * The parts of search by meaning that are loaded only when first shown: best matches, and the section of the settings.
 */
export { BestPage, SHORTCUTS } from "./page.js";
export { MeaningSection } from "./settings.js";
