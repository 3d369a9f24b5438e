// @ts-check
/** What a file looks like before one opens it. Pure. */

/**
 * The icon of a kind of file.
 * @param {string} mime
 */
export function fileIcon(mime) {
  if (mime.startsWith("image/")) return "image";
  if (/calendar/.test(mime)) return "calendar";
  if (/csv|sheet|excel/.test(mime)) return "sheet";
  if (/zip|compressed|tar|gzip/.test(mime)) return "zip";
  return "file";
}
