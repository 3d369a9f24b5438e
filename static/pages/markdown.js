// @ts-check
/**
 * Shows Markdown: the HTML from grammar.js goes through DOMPurify into one element.
 *
 * Only what is on these lists is shown, even if a fault in the library lets more through. Unchanged elements stay in
 * place, so that a preview does not load its pictures again at each key press.
 */
import DOMPurify from "dompurify";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { html } from "../ui/html.js";
import { toHtml } from "./grammar.js";

const TAGS = [
  "a", "blockquote", "br", "code", "del", "div", "em", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li", "ol", "p",
  "pre", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
];
const ADDRESSES = ["href", "src"];
const PLAIN = ["alt", "aria-label", "class", "loading", "rel", "role", "scope", "start", "tabindex", "target", "title"];
/** Another site, a mail address, or a place of this site. */
const ALLOWED = /^(?:https?:\/\/|mailto:|\/(?!\/)|[#?]|(?!\/)[^:]*(?:[/?#]|$))/i;
const ELSEWHERE = /^[a-z][a-z0-9+.-]*:/i;

/** @typedef {"live" | "unknown" | "inert"} Links */

/**
 * `links`: in a text that an agent wrote ("inert"), a link to another site is shown as text with its address: a click
 * would send what is in the address to that site. While the author is not known ("unknown"), it is only text.
 * @param {{ text: string, links?: Links }} props
 */
export function Markdown({ text, links = "live" }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const fragment = useMemo(() => held(clean(toHtml(text)), links), [text, links]);
  useLayoutEffect(() => {
    if (place.current) replaceChanged(place.current, [...fragment.childNodes]);
  }, [fragment]);
  return html`<div class="prose" ref=${place}></div>`;
}

/** @param {DocumentFragment} fragment @param {Links} links @returns {DocumentFragment} */
function held(fragment, links) {
  if (links === "live") return fragment;
  for (const link of fragment.querySelectorAll("a[href]")) {
    const address = link.getAttribute("href") ?? "";
    if (!ELSEWHERE.test(address)) continue;
    const text = document.createElement("span");
    text.className = "held-link";
    text.append(...link.childNodes);
    if (links === "inert" && text.textContent !== address) text.append(` [${address}]`);
    link.replaceWith(text);
  }
  return fragment;
}

/** @param {string} markup @returns {DocumentFragment} */
export function clean(markup) {
  return DOMPurify.sanitize(markup, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: [...ADDRESSES, ...PLAIN],
    ADD_URI_SAFE_ATTR: PLAIN,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    ALLOWED_URI_REGEXP: ALLOWED,
    RETURN_DOM_FRAGMENT: true,
  });
}

/**
 * Replaces the content of `place` by `fresh`, except for equal nodes at the beginning and at the end.
 * @param {HTMLElement} place
 * @param {ChildNode[]} fresh
 */
function replaceChanged(place, fresh) {
  const old = [...place.childNodes];
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head]?.isEqualNode(fresh[head] ?? null)) head += 1;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail)?.isEqualNode(fresh.at(-1 - tail) ?? null)) tail += 1;
  const behind = old[old.length - tail] ?? null;
  for (const node of old.slice(head, old.length - tail)) node.remove();
  const added = document.createDocumentFragment();
  added.append(...fresh.slice(head, fresh.length - tail));
  place.insertBefore(added, behind);
}
