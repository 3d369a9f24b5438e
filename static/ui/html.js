// @ts-check
/** Templates: htm bound to preact. Values are always text or nodes, never markup. */
import htm from "htm";
import { h } from "preact";

/** @type {(strings: TemplateStringsArray, ...values: any[]) => any} */
export const html = htm.bind(h);

/**
 * Class names that apply.
 * @param {Record<string, unknown>} names
 */
export function classes(names) {
  return Object.keys(names)
    .filter((name) => names[name])
    .join(" ");
}
