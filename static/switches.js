// @ts-check
/**
 * The parts of the service that this server has switched off, as on a public server: the page that the server sends
 * lists them.
 */

const off = document.querySelector("meta[name=switched-off]")?.getAttribute("content") ?? "";
const NAMES = new Set(off.split(" "));

/** @param {string} name the name in `svc config` */
export function isSwitchedOff(name) {
  return NAMES.has(name);
}
