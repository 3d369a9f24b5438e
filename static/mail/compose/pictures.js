// @ts-check
/**
 * Pictures in the text: files of the message, uploaded like others, shown where they were put. In the editor one stands
 * under the address of its file; for the server, as `cid:` and the file's id. Pure but for the files' addresses.
 */

/** What every mail program shows. */
const KINDS = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const IN_EDITOR = /(<img\b[^>]*?\bsrc=")\/files\/([\w-]+)\/content"/g;
const FOR_SERVER = /<img\b[^>]*?\bsrc="cid:([\w-]+)"/g;
const ADDRESS = /^(?:cid:|\/files\/)([\w-]+)(?:\/content)?$/;
/** As wide as a mail is read; the file keeps its size. */
export const FITTING_PX = 600;
export const SMALL_PX = 240;

/** @param {{ type: string }} file */
export function isPicture({ type }) {
  return KINDS.has(type);
}

/** @param {string} fileId */
export function pictureAddress(fileId) {
  return `/files/${fileId}/content`;
}

/** The file that an address of a picture leads to, whichever way it is written. @param {string} address */
export function fileOf(address) {
  const here = address.startsWith(location.origin) ? address.slice(location.origin.length) : address;
  return ADDRESS.exec(here)?.[1] ?? null;
}

/** The text of the editor as the server takes it. @param {string} html */
export function forServer(html) {
  return html.replace(IN_EDITOR, '$1cid:$2"');
}

/** The files that the text shows. @param {string} html as the server has it */
export function picturesIn(html) {
  return new Set([...html.matchAll(FOR_SERVER)].map((found) => found[1] ?? ""));
}

/** What a picture is called until somebody says better. @param {string} name of its file */
export function describing(name) {
  return name.replace(/\.\w{1,5}$/, "").replace(/[_-]+/g, " ").trim();
}
