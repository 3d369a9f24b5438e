// @ts-check
/** Files, as the app's list has them: what their kinds look like. */

import { query } from "../rpc.js";
import { fileSize } from "../ui/format.js";

const MIN_TYPED_CHARS = 2;
const MAX_TYPED_CHARS = 500;

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "files",
  lookup,
  icons: {
    file: "M5.5 3h6l3 3v11h-9zM11.5 3v3h3",
    image: "M3.5 4.5h13v11h-13zM3.5 13l3.5-3.5 3 3 2-2 4.5 4.5M12.9 8h.01",
    sheet: "M4 4h12v12H4zM4 8h12M4 12h12M9 8v8",
    calendar: "M4 5h12v11H4zM4 8.5h12M7 3.5v3M13 3.5v3",
    zip: "M5.5 3h9v14h-9zM10 3v2M10 7v2M10 11v2",
  },
};

/** By words of the name. It opens beside the app, or is saved, as its type is. @param {string} text
 * @returns {Promise<import("../feature.js").Command[]>} */
async function lookup(text) {
  if (text.length < MIN_TYPED_CHARS) return [];
  const found = await query("files.find", { text: text.slice(0, MAX_TYPED_CHARS) });
  return found.map(({ id, name, size }) => ({ id: `file ${id}`, label: name, group: "File", hint: fileSize(size),
    thing: /** @type {const} */ ("file"), href: `/files/${id}/content`,
    run: () => void open(`/files/${id}/content`, "_blank", "noopener") }));
}
