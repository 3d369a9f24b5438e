// @ts-check
/**
 * What may come into the editor: a short list of elements and, of attributes, an address that is safe to follow.
 *
 * Everything that is set, pasted or dropped goes through here. Of pictures only those come through that are files of
 * the message: one from the web would tell its sender that it was pasted. The server sanitizes again before it sends.
 */
import DOMPurify from "dompurify";
import { fileOf, pictureAddress } from "./pictures.js";

const TAGS = [
  "a", "b", "blockquote", "br", "code", "div", "em", "h1", "h2", "h3", "i", "li", "ol", "p", "pre", "s", "strong",
    "sub", "sup",
  "table", "tbody", "td", "tfoot", "th", "thead", "tr", "u", "ul",
];
const ADDRESSES = /^(?:https?|mailto|tel):/i;
const OF_PICTURES = /^(?:https?:|cid:|\/files\/)/i;
const NONE = () => false;
/** Longer HTML is taken as text: laying it out would hold the window up for seconds. */
export const MAX_HTML_CHARS = 400_000;
/** Longer text is cut. */
export const MAX_TEXT_CHARS = 400_000;

/**
 * @param {string} html
 * @param {(fileId: string) => boolean} [isOurs] whether a picture's file is the message's
 * @returns {DocumentFragment} in this document
 */
export function clean(html, isOurs = NONE) {
  const fragment = DOMPurify.sanitize(withoutFrames(withoutStyleSheets(html.slice(0, MAX_HTML_CHARS * 2))), {
    ALLOWED_TAGS: [...TAGS, "img"],
    ALLOWED_ATTR: ["href", "data-signature", "src", "alt", "width"],
    ADD_URI_SAFE_ATTR: ["data-signature"], // its value is no address
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

/** An address as typed, or null if a link must not lead there. @param {string} typed */
export function safeAddress(typed) {
  const text = typed.trim();
  if (ADDRESSES.test(text)) return text;
  if (/^[^\s@/:]+@[^\s@/:]+$/.test(text)) return `mailto:${text}`;
  if (!text || /\s/.test(text) || /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text)) return null;
  return `https://${text.replace(/^\/+/, "")}`;
}

/**
 * A set of frames has no body to clean, and what stands in for it is no HTML to the parser. As blocks they are like
 * others.
 * @param {string} html
 */
function withoutFrames(html) {
  return html.replace(/<(\/?)(?:frameset|noframes|frame)(?=[\s/>])/gi, "<$1div");
}

/**
 * Office programs paste style sheets. They go in any case; left to the parser, each would be one more complaint about
 * the policy in the console, also where nothing is laid out.
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
