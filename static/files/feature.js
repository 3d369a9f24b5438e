// @ts-check
/** Files as an entry in the app's list of features. */

import { late } from "../late.js";
import { query } from "../rpc.js";
import { fileSize, plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { filesHref, parseFilesAddress, SIEVES } from "./address.js";
import { forgetActions } from "./actions.js";
import { onFileNews } from "./news.js";
import { askBeforeLeaving, uploading } from "./sending.js";

const later = () => import("./page.js");
const FilesPage = late(later, "FilesPage");

const MIN_TYPED_CHARS = 2;
const MAX_TYPED_CHARS = 500;

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "files",
  keys: async () => [{ title: "Files", shortcuts: (await later()).SHORTCUTS }],
  routes: [{ parse: parseFilesAddress,
    show: (filter) => html`<${Shell}><${FilesPage} filter=${filter} /></${Shell}>` }],
  nav: [{ at: "top", title: "Files", icon: "folder",
    href: () => filesHref({ text: "", sieve: SIEVES[0], sort: "newest" }),
    also: ["Uploads", "Storage", "Attachments"], count: underWay }],
  topics: ["files"],
  onEvent: onFileNews,
  refetch: onFileNews,
  start: askBeforeLeaving,
  async forget() {
    uploading.abort();
    forgetActions();
  },
  lookup,
  icons: {
    file: "M5.5 3h6l3 3v11h-9zM11.5 3v3h3",
    image: "M3.5 4.5h13v11h-13zM3.5 13l3.5-3.5 3 3 2-2 4.5 4.5M12.9 8h.01",
    sheet: "M4 4h12v12H4zM4 8h12M4 12h12M9 8v8",
    calendar: "M4 5h12v11H4zM4 8.5h12M7 3.5v3M13 3.5v3",
    folder: "M3 5.5h5l1.5 2H17v8H3z",
    document: "M5.5 3h6l3 3v11h-9zM11.5 3v3h3M7.5 10h5M7.5 13h5",
    audio: "M8 14.5V5l8-1.5v9.5M8 14.5a2 2 0 1 1-4 0 2 2 0 0 1 4 0zM16 13a2 2 0 1 1-4 0 2 2 0 0 1 4 0z",
    video: "M3 5h14v10H3zM8.5 7.8l4 2.2-4 2.2z",
    preview: "M2.5 10s2.7-5 7.5-5 7.5 5 7.5 5-2.7 5-7.5 5-7.5-5-7.5-5z" +
      "M10 12.3a2.3 2.3 0 1 0 0-4.6 2.3 2.3 0 0 0 0 4.6z",
    upload: "M10 13V4M6.5 7.5L10 4l3.5 3.5M4 13.5v3h12v-3",
    zip: "M5.5 3h9v14h-9zM10 3v2M10 7v2M10 11v2",
  },
};

/** Finds files by words of the name. A file opens in a new tab or is saved, depending on its type. @param {string} text
 * @returns {Promise<import("../feature.js").Command[]>} */
async function lookup(text) {
  if (text.length < MIN_TYPED_CHARS) return [];
  const found = await query("files.find", { text: text.slice(0, MAX_TYPED_CHARS) });
  return found.map(({ id, name, size }) => ({ id: `file ${id}`, label: name, group: "File", hint: fileSize(size),
    thing: /** @type {const} */ ("file"), href: `/files/${id}/content`,
    run: () => void open(`/files/${id}/content`, "_blank", "noopener") }));
}

function underWay() {
  const n = uploading.underWay;
  return n ? { n, words: `${plural(n, "upload")} under way` } : null;
}
