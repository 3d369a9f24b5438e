// @ts-check
/** The address of a plugin's note: `/plugins/@team/notes/welcome`. Pure. */
import { decodePart } from "../router.js";

const NOTES = /^\/plugins\/((?:@[^/]+\/)?[^/]+)\/([^/]+)\/?$/;

/** @param {string} plugin @param {string} note */
export function noteHref(plugin, note) {
  return `/plugins/${plugin.split("/").map(encodeURIComponent).join("/")}/${encodeURIComponent(note)}`;
}

/** @param {URL} url */
export function parseNoteAddress({ pathname }) {
  const match = NOTES.exec(pathname.replaceAll("%40", "@"));
  if (!match) return null;
  return { plugin: (match[1] ?? "").split("/").map(decodePart).join("/"), note: decodePart(match[2] ?? "") };
}
