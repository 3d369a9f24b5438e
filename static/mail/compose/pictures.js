// @ts-check
/**
 * Pictures in the text: files of the message, uploaded like others, shown where they were inserted. In the editor a
 * picture has the address of its file; for the server it has `cid:` and the file's id. Pure, except for the files'
 * addresses.
 */

/** The types that every mail program shows. */
const KINDS = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const IN_EDITOR = /(<img\b[^>]*?\bsrc=")\/files\/([\w-]+)\/content"/g;
const FOR_SERVER = /<img\b[^>]*?\bsrc="cid:([\w-]+)"/g;
const ADDRESS = /^(?:cid:|\/files\/)([\w-]+)(?:\/content)?$/;
/** The usual width of a mail; the file keeps its size. */
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

/** The file id in a picture's address, in either form. @param {string} address */
export function fileOf(address) {
  const here = address.startsWith(location.origin) ? address.slice(location.origin.length) : address;
  return ADDRESS.exec(here)?.[1] ?? null;
}

/** Converts the editor's HTML to the form for the server. @param {string} html */
export function forServer(html) {
  return html.replace(IN_EDITOR, '$1cid:$2"');
}

/** The files that the text shows. @param {string} html as the server has it */
export function picturesIn(html) {
  return new Set([...html.matchAll(FOR_SERVER)].map((found) => found[1] ?? ""));
}

/** The default description of a picture. @param {string} name of its file */
export function describing(name) {
  return name.replace(/\.\w{1,5}$/, "").replace(/[_-]+/g, " ").trim();
}
