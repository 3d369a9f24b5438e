// @ts-check
/** The icons of files. Pure. */

/** Icons by the kind that the server gives for listed files. @type {Record<string, string>} */
const KINDS = { image: "image", audio: "audio", video: "video", pdf: "document", document: "document", text: "document",
  slides: "document", sheet: "sheet", calendar: "calendar", archive: "zip" };

/**
 * The icon of a file.
 * @param {string} mime
 * @param {string} [kind] if it is known
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
