// @ts-check
/** Templates: htm bound to preact. Values become text or nodes, never markup. */
import htm from "htm";
import { h } from "preact";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);

/**
 * The class names whose value is true.
 * @param {Record<string, unknown>} names
 */
export function classes(names) {
  return Object.keys(names)
    .filter((name) => names[name])
    .join(" ");
}
