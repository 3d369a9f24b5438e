// @ts-check
/** The feature row of pages for the app's list of features. */
import { late } from "../late.js";
import { decodePart, navigate } from "../router.js";
import { query } from "../rpc.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { onPagesEvent, refetchPages } from "./news.js";
import { pageHref } from "./paths.js";
import { TRASH_HREF } from "./trash.js";

const later = () => import("./later.js");
const PagesPage = late(later, "PagesPage");

const MAX_TYPED_CHARS = 500;
const PAGES = /^\/p(?:\/(.*))?$/;

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "pages",
  keys: async () => [{ title: "Page", shortcuts: [(await later()).EDIT] }],
  routes: [{ parse, show: (at) => html`<${Shell}><${PagesPage} ...${at} /></${Shell}>` }],
  nav: [{ at: "top", title: "Pages", icon: "page", href: () => "/p/", bar: "Pages" }],
  topics: ["pages"],
  onEvent: onPagesEvent,
  refetch: refetchPages,
  commands: () => [{ id: "pages trash", label: "Deleted pages", group: "Go to", run: () => navigate(TRASH_HREF) }],
  lookup,
  icons: {
    history: "M4 10a6 6 0 1 0 2-4.5L4 7.3M4 3.8v3.5h3.5M10 7v3.3l2.2 1.4",
    page: "M5.5 3h6l3 3v11h-9zM8 9.5h4.5M8 12.5h4.5",
  },
};

/** `/p/` is the list of pages, `/p/?trash` the list of deleted ones; `/p/<path>` is a page. @param {URL} url */
function parse({ pathname, searchParams }) {
  const match = PAGES.exec(pathname);
  if (!match) return null;
  const path = (match[1] ?? "").replace(/\/$/, "").split("/").map(decodePart).join("/");
  return { path, trash: path === "" && searchParams.has("trash") };
}

/** Finds pages by title and text; without any words, the last changed ones. @param {string} text
 * @returns {Promise<import("../feature.js").Command[]>} */
async function lookup(text) {
  const found = await query("pages.find", { text: text.slice(0, MAX_TYPED_CHARS) });
  return found.map(({ id, path, title, snippet }) => ({ id: `page ${id}`, label: title || path, group: "Page",
    hint: snippet || path, thing: /** @type {const} */ ("page"), href: pageHref(path),
    run: () => navigate(pageHref(path)) }));
}
