// @ts-check
/** The unsaved texts of pages, by path (unsaved.js). */
import { UnsavedTexts } from "../unsaved.js";

/**
 * @typedef {{ title: string, body: string, revision: number }} Draft `revision`: the one it began with, 0 for no page
 */

/** @type {UnsavedTexts<Draft>} */
export const drafts = new UnsavedTexts("page");
