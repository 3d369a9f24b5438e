// @ts-check
/**
 * Markdown on the page: the HTML that grammar.js makes of it, through DOMPurify, into one element.
 *
 * Nothing that is not on these lists gets in, whatever a fault in the library lets through. What is the same after a
 * change stays in place, so that a preview's pictures do not load again with each letter.
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
/** Another site, a mail address, or a place of this one. */
const ALLOWED = /^(?:https?:\/\/|mailto:|\/(?!\/)|[#?]|(?!\/)[^:]*(?:[/?#]|$))/i;
const ELSEWHERE = /^[a-z][a-z0-9+.-]*:/i;

/** @typedef {"live" | "unknown" | "inert"} Links */

/**
 * `links`: where an agent wrote the text, links that leave are text that says where they lead: a click would tell that
 * place what stands in the address. As long as that is not known, they are text alone.
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
 * Put `fresh` into `place`, but for what is equal at its beginning and at its end.
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
