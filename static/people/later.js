// @ts-check
/** What comes late of people: the page, and the section of the settings. */
export { PeopleSection } from "./settings.js";
export { PeoplePage, SHORTCUTS } from "./page.js";
