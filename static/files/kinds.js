// @ts-check
/** Which files the app can show, by MIME type; for PDFs without a type also by the name's ending. Pure. */

const RASTER = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/avif"]);
const TEXTS = new Set(["text/plain", "text/csv", "text/markdown", "text/calendar", "text/vcard", "application/json"]);
const PDFS = new Set(["application/pdf", "application/x-pdf"]);
/** Types that the service serves for playing; it checks the files' first bytes, too. */
const SOUNDS = new Set(["audio/mpeg", "audio/ogg", "audio/flac", "audio/wav", "audio/x-wav", "audio/mp4"]);
const FILMS = new Set(["video/webm", "video/ogg", "video/mp4", "video/quicktime"]);
const UNTYPED = new Set(["", "application/octet-stream", "application/x-download", "application/force-download"]);

/** Whether the service serves the type as an image to be shown. @param {{ mime: string }} file */
export function isPicture({ mime }) {
  return RASTER.has(typeOf(mime));
}

/** @param {{ mime: string }} file */
export function isText({ mime }) {
  return TEXTS.has(typeOf(mime));
}

/** @param {{ mime: string }} file */
export function isSound({ mime }) {
  return SOUNDS.has(typeOf(mime));
}

/** @param {{ mime: string }} file */
export function isFilm({ mime }) {
  return FILMS.has(typeOf(mime));
}

/** Some programs send every file without a real type, so the name counts, too.
 * @param {{ mime: string, filename: string }} file */
export function isPdf({ mime, filename }) {
  return PDFS.has(typeOf(mime)) || (UNTYPED.has(typeOf(mime)) && /\.pdf$/iu.test(filename));
}

/** @param {string} mime */
function typeOf(mime) {
  return mime.toLowerCase().split(";")[0]?.trim() ?? "";
}
