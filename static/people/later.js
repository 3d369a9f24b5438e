// @ts-check
/** The parts of people that are loaded only when first shown: the page, and the section of the settings. */
export { PeopleSection } from "./settings.js";
export { PeoplePage, SHORTCUTS } from "./page.js";
