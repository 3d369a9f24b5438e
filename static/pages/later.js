// @ts-check
/** The part of pages that is loaded only when first shown: the page that shows and edits them. */
export { PagesPage } from "./page.js";
export { EDIT } from "./view.js";
