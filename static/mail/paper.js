// @ts-check
/**
 * The document that a message's frame shows: the frame's policy, then the sanitized body, dressed for reading.
 *
 * The frame inherits the app's own policy, which allows style attributes and no style sheets; so the few base styles
 * (fonts, links, placeholders of blocked images) are written as attributes, before the sender's own, which win. This is
 * done in an inert document: nothing in it runs or loads, and nothing of it enters the app's document.
 */
import { clearPaper } from "./colours.js";
import { END_PX } from "./sheet.js";

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

export const BODY_STYLE =
  "margin:4px 0 8px;color:#1d2429;overflow-wrap:break-word;" +
  "font:14px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans',Arial,sans-serif";

/** What an element gets before its own style. @type {Record<string, string>} */
const BASE = {
  A: "color:#0b6473",
  IMG: "max-width:100%",
  PRE: "white-space:pre-wrap",
  TABLE: "max-width:100%",
  BLOCKQUOTE: "margin:0 0 0 2px;padding:0 0 0 12px;border-left:2px solid #cfd6da;color:#4d585f",
};
/** The least and the most of it: a newsletter keeps its shape, and its pictures do not fill the screen. */
const PLACEHOLDER_MIN_PX = 32;
export const PLACEHOLDER_MAX_PX = 400;
const PLACEHOLDER =
  "display:inline-block;max-width:100%;box-sizing:border-box;overflow:hidden;vertical-align:middle;" +
  "background:#f1f3f4;border-radius:4px;color:#5c656b;font-size:12px;line-height:16px;text-align:center";
const SPACE = "display:inline-block;max-width:100%;vertical-align:middle";
/** On dark paper all colours are turned, and those of an image turned back. */
export const TURN = "invert(1) hue-rotate(180deg)";
/** Smaller than this, an image has no room for words; and than that, it only keeps things apart, where it has none. */
const ROOM_FOR_WORDS_PX = 32;
const SPACER_PX = 16;
/** What a style says of an image's size, itself. */
const OWN_SIZE = /(?:^|;)(?:width|height):/;
/** Images of this size carry nothing but a count of readers. */
const TRACKER_PX = 2;

/**
 * Parse, without running or loading anything.
 * @param {string} html sanitized by the server
 * @param {boolean} [folded] without what the server marked as known: the quotation and the signature it ends with
 */
export function parseInert(html, folded = false) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  if (folded) for (const known of body.querySelectorAll("[data-fold]")) known.remove();
  return body;
}

/**
 * Put loaded images in their places, with their sizes. Changes `body`.
 * @param {HTMLElement} body from parseInert
 * @param {import("./images.js").Images} images those that were asked for
 */
export function placeImages(body, images) {
  for (const image of body.querySelectorAll("img[data-remote]")) {
    const one = images.get(Number(image.getAttribute("data-remote")));
    if (one && "data" in one) showImage(image, one);
  }
  return body;
}

/** Whether an image carries nothing but a count of readers. @param {Element} image */
export function isTracker(image) {
  return sidesOf(image).some((side) => side !== null && side <= TRACKER_PX);
}

/**
 * Placeholders for what is not shown, and the base styles. Changes `body`.
 * @param {HTMLElement} body from placeImages
 * @param {import("./images.js").Images} images
 * @param {boolean} [dark] on dark paper
 */
export function dress(body, images, dark = false) {
  for (const image of body.querySelectorAll("img[data-remote]:not([src])")) {
    const one = images.get(Number(image.getAttribute("data-remote")));
    const box = isTracker(image) ? null : placeholder(image, one && "reason" in one ? one.reason : "");
    if (box) image.replaceWith(box);
    else image.remove();
  }
  if (dark) clearPaper(body);
  for (const element of body.querySelectorAll(Object.keys(BASE).join(","))) {
    const again = dark && element.tagName === "IMG" ? `filter:${TURN};` : "";
    element.setAttribute("style", `${BASE[element.tagName]};${again}${element.getAttribute("style") ?? ""}`);
  }
  return body;
}

/** Printed, no colours are turned: not the frame's (card.css), nor back. The server's policy names this style alone. */
const PRINTED = "@media print { img { filter: none !important; } }";

/**
 * The frame's document. Changes `body`.
 * @param {HTMLElement} body from placeImages
 * @param {import("./images.js").Images} images
 * @param {boolean} dark on dark paper
 * @param {number} width of the frame in pixels
 */
export function frameDocument(body, images, dark, width) {
  dress(body, images, dark);
  return (
    `<!doctype html><html style="color-scheme:light;width:${width}px;padding-bottom:${END_PX}px"><head>` +
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">` +
    `<meta name="responsive-embedded-sizing" content="allow-origins=${location.origin}">` +
    '<meta charset="utf-8"><meta name="referrer" content="no-referrer">' +
    `${dark ? `<style>${PRINTED}</style>` : ""}</head>` +
    `<body style="background:${dark ? "transparent" : "#fff"};${BODY_STYLE}">${body.innerHTML}</body></html>`
  );
}

/**
 * The size that was asked for holds, and shrinks in proportion where there is less room; without one, its own.
 * @param {Element} image
 * @param {import("./images.js").LoadedImage} loaded
 */
function showImage(image, { data, width, height }) {
  const style = image.getAttribute("style") ?? "";
  if (!image.hasAttribute("width") && !image.hasAttribute("height") && !OWN_SIZE.test(style)) image.setAttribute(
    "width", String(width));
  const [wide] = sidesOf(image);
  if (wide && !image.hasAttribute("height")) image.setAttribute("height", String(Math.round((wide * height) / width)));
  const [, high] = sidesOf(image);
  if (wide && high) image.setAttribute("style", `height:auto;aspect-ratio:${wide}/${high};${style}`);
  image.setAttribute("src", data);
}

/** In pixels, where that is how they are given. @param {Element} image */
function sidesOf(image) {
  const style = image.getAttribute("style") ?? "";
  return ["width", "height"].map((name) => {
    const side = image.getAttribute(name) ?? new RegExp(`(?:^|;)${name}:([\\d.]+)px`).exec(style)?.[1] ?? "";
    return /^\d+(?:\.\d+)?$/.test(side) ? Math.round(Number(side)) : null;
  });
}

/**
 * What stands for an image that is not shown: a quiet box of its size with its words, or with what was in the way. One
 * of no size and without words leaves nothing, and one that only keeps others apart leaves its room.
 * @param {Element} image
 * @param {string} reason
 * @returns {HTMLElement | null}
 */
function placeholder(image, reason) {
  const words = [image.getAttribute("alt") ?? "", reason].filter(Boolean).join(" – ");
  const sides = sidesOf(image);
  const width = image.getAttribute("width") ?? "";
  if (!words && !width && !sides.some(Boolean)) return null;
  const isNarrow = sides.some((side) => side !== null && side < ROOM_FOR_WORDS_PX);
  const isSpacer = !words && sides.some((side) => side !== null && side < SPACER_PX);
  const box = image.ownerDocument.createElement("span");
  const own = image.getAttribute("style") ?? "";
  box.setAttribute("style", [
    isSpacer ? SPACE : PLACEHOLDER, isNarrow ? "" : "padding:4px 6px", sizeOf(sides, width), own,
    isSpacer ? "" : `max-height:${PLACEHOLDER_MAX_PX}px`,
  ].filter(Boolean).join(";"));
  box.setAttribute("data-remote", image.getAttribute("data-remote") ?? "");
  if (isSpacer) return box;
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", words || "Blocked image");
  if (reason) box.setAttribute("title", reason);
  if (!isNarrow) box.append(words);
  return box;
}

/** @param {(number | null)[]} sides @param {string} width as it is given */
function sizeOf([wide = null, high = null], width) {
  return [
    wide !== null ? `width:${wide}px` : width && `width:${width}`,
    wide && high ? `aspect-ratio:${wide}/${high}` : high !== null ? `height:${high}px`
      : `min-height:${PLACEHOLDER_MIN_PX}px`,
  ].filter(Boolean).join(";");
}
