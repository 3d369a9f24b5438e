// @ts-check
/**
 * A round initial in one of a few quiet colours, which depends on the address. The style draws the letter, so that it
 * is not part of the text of a link around it.
 */
import { html } from "./html.js";

const COLOURS = 8;

/** @param {{ person: Person }} props */
export function Avatar({ person }) {
  const name = person.name || person.address;
  const initial = [...name.replace(/^[^\p{L}\p{N}]+/u, "")][0] ?? "·";
  return html`<span class=${`avatar hue-${hue(person.address || name)}`} aria-hidden="true"
    data-initial=${initial.toUpperCase()}></span>`;
}

/** @param {string} text */
function hue(text) {
  let sum = 0;
  for (let index = 0; index < text.length; index += 1) sum = (sum * 31 + text.charCodeAt(index)) >>> 0;
  return sum % COLOURS;
}
