// @ts-check
/** Addresses in narrow places, such as tabs: cut so that no two accounts look the same. */
import { html } from "../ui/html.js";

const HEAD = 2;
/** How far before the difference the shown rest may begin, to begin with a word. */
const WORD = 5;

/**
 * The beginning, what is left out, and the rest. Nothing is left out if the beginning alone distinguishes the address.
 * Pure.
 * @param {string} address
 * @param {readonly string[]} others
 * @param {number} room how many characters are certain to be shown
 * @returns {[string, string, string]}
 */
export function cutOf(address, others, room) {
  const same = Math.max(0, ...others.filter((one) => one !== address).map((one) => alike(address, one)));
  if (same < room) return [address, "", ""];
  const word = address.slice(0, same).search(/[^.@_+-]+$/);
  const from = word > HEAD && (same - word <= WORD || same === address.length) ? word : same;
  return [address.slice(0, HEAD), address.slice(HEAD, from), address.slice(from)];
}

/**
 * The element contains the whole address, for copying.
 * @param {{ address: string, others: readonly string[], room: number }} props
 */
export function CutAddress({ address, others, room }) {
  const [start, out, rest] = cutOf(address, others, room);
  return html`${start}${out && html`<span class="left-out">${out}</span>`}${rest}`;
}

/** How many characters both begin with. @param {string} one @param {string} other */
function alike(one, other) {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
