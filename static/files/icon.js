// @ts-check
/** What a file looks like before one opens it. Pure. */

/** By kind, as the server tells it of the files of the list. @type {Record<string, string>} */
const KINDS = { image: "image", audio: "audio", video: "video", pdf: "document", document: "document", text: "document",
  slides: "document", sheet: "sheet", calendar: "calendar", archive: "zip" };

/**
 * The icon of a kind of file.
 * @param {string} mime
 * @param {string} [kind] where it is known
 */
export function fileIcon(mime, kind) {
  if (kind !== undefined) return KINDS[kind] ?? "file";
  if (mime.startsWith("image/")) return "image";
  if (mime.startsWith("audio/")) return "audio";
  if (mime.startsWith("video/")) return "video";
  if (/calendar/.test(mime)) return "calendar";
  if (/csv|sheet|excel/.test(mime)) return "sheet";
  if (/zip|compressed|tar|gzip/.test(mime)) return "zip";
  return "file";
}
