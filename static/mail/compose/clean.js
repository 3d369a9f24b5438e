// @ts-check
/**
 * The filter for the editor's content: a short list of elements and, of attributes, only addresses that are safe to
 * follow.
 *
 * All HTML that is set, pasted or dropped is filtered here. Only pictures that are files of the message are kept: a
 * picture from the web would tell its sender that it was pasted. The server sanitizes again before it sends.
 */
import DOMPurify from "dompurify";
import { ADDRESSES } from "./link_address.js";
import { fileOf, pictureAddress } from "./pictures.js";

const TAGS = [
  "a", "b", "blockquote", "br", "code", "div", "em", "h1", "h2", "h3", "i", "li", "ol", "p", "pre", "s", "strong",
    "sub", "sup",
  "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul",
];
const OF_PICTURES = /^(?:https?:|cid:|\/files\/)/i;
const NONE = () => false;
/** Longer HTML is inserted as text: its layout would block the window for seconds. */
export const MAX_HTML_CHARS = 400_000;

/**
 * @param {string} html
 * @param {(fileId: string) => boolean} [isOurs] whether a picture's file is the message's
 * @returns {DocumentFragment} in this document
 */
export function clean(html, isOurs = NONE) {
  const fragment = DOMPurify.sanitize(withoutFrames(withoutStyleSheets(html.slice(0, MAX_HTML_CHARS * 2))), {
    ALLOWED_TAGS: [...TAGS, "img"],
    ALLOWED_ATTR: ["href", "data-signature", "src", "alt", "width"],
    ADD_URI_SAFE_ATTR: ["data-signature"], // its value is not an address
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: new RegExp(`${ADDRESSES.source}|${OF_PICTURES.source}`, "i"),
    FORBID_CONTENTS: ["script", "style", "template", "noscript", "title", "textarea", "select", "iframe", "object",
      "svg", "math", "head"],
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a[href]")) {
    if (!ADDRESSES.test(link.getAttribute("href") ?? "")) link.removeAttribute("href");
  }
  for (const picture of fragment.querySelectorAll("img")) {
    const fileId = fileOf(picture.getAttribute("src") ?? "");
    if (fileId !== null && isOurs(fileId)) picture.setAttribute("src", pictureAddress(fileId));
    else picture.remove();
  }
  return document.importNode(fragment, true);
}

/**
 * Replaces framesets by blocks: a frameset has no body to clean, and the parser takes its fallback content as plain
 * text.
 * @param {string} html
 */
function withoutFrames(html) {
  return html.replace(/<(\/?)(?:frameset|noframes|frame)(?=[\s/>])/gi, "<$1div");
}

/**
 * Removes style sheets, which office programs paste. The filter would drop them anyway, but the parser would report
 * each as a violation of the policy in the console, even in an inert document.
 * @param {string} html
 */
function withoutStyleSheets(html) {
  const lower = html.toLowerCase();
  let kept = "";
  let from = 0;
  for (;;) {
    const begin = lower.indexOf("<style", from);
    const end = begin < 0 ? -1 : lower.indexOf("</style>", begin);
    if (end < 0) return kept + html.slice(from);
    kept += html.slice(from, begin);
    from = end + "</style>".length;
  }
}
