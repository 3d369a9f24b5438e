// @ts-check
/** What comes late of pages: the page that shows and edits them. */
export { PagesPage } from "./page.js";
export { EDIT } from "./view.js";
