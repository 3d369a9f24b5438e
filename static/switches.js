// @ts-check
/** Which parts of the service this server has switched off, such as a public one: the page that it sent says so. */

const off = document.querySelector("meta[name=switched-off]")?.getAttribute("content") ?? "";
const NAMES = new Set(off.split(" "));

/** @param {string} name as `svc config` lists it */
export function isSwitchedOff(name) {
  return NAMES.has(name);
}
