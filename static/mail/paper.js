// @ts-check
/**
 * Builds the document of a message's frame: the frame's policy, then the sanitized body with styles for reading.
 *
 * The frame inherits the app's own policy, which allows style attributes but no style sheets; so the few base styles
 * (fonts, links, placeholders of blocked images) are written as attributes, before the sender's own, which win. This is
 * done in an inert document: nothing in it runs or loads, and nothing of it enters the app's document.
 */
import { clearPaper } from "./colours.js";
import { END_PX } from "./sheet.js";

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

export const BODY_STYLE =
  "margin:4px 0 8px;color:#1d2429;overflow-wrap:break-word;" +
  "font:14px/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans',Arial,sans-serif";

/** The base style of an element, before its own style. @type {Record<string, string>} */
const BASE = {
  A: "color:#0b6473",
  IMG: "max-width:100%",
  PRE: "white-space:pre-wrap",
  TABLE: "max-width:100%",
  BLOCKQUOTE: "margin:0 0 0 2px;padding:0 0 0 12px;border-left:2px solid #cfd6da;color:#4d585f",
};
/**
 * The smallest and largest size of a placeholder: a newsletter keeps its shape, and its pictures do not fill the
 * screen.
 */
const PLACEHOLDER_MIN_PX = 32;
export const PLACEHOLDER_MAX_PX = 400;
const PLACEHOLDER =
  "display:inline-block;max-width:100%;box-sizing:border-box;overflow:hidden;vertical-align:middle;" +
  "background:#f1f3f4;border-radius:4px;color:#5c656b;font-size:12px;line-height:16px;text-align:center";
const SPACE = "display:inline-block;max-width:100%;vertical-align:middle";
/** On dark paper all colours are inverted, and those of an image are inverted back. */
export const TURN = "invert(1) hue-rotate(180deg)";
/** A smaller image has no room for text; and a smaller one without text only adds space between others. */
const ROOM_FOR_WORDS_PX = 32;
const SPACER_PX = 16;
/** Matches a style that sets the image's own size. */
const OWN_SIZE = /(?:^|;)(?:width|height):/;
/** Images up to this size only count readers. */
const TRACKER_PX = 2;

/**
 * Parses HTML without running or loading anything.
 * @param {string} html sanitized by the server
 * @param {boolean} [folded] without the parts that the server marked as known: the final quotation and signature
 */
export function parseInert(html, folded = false) {
  const { body } = new DOMParser().parseFromString(html, "text/html");
  if (folded) for (const known of body.querySelectorAll("[data-fold]")) known.remove();
  return body;
}

/**
 * Inserts loaded images at their places, with their sizes. Changes `body`.
 * @param {HTMLElement} body from parseInert
 * @param {import("./images.js").Images} images the requested ones
 */
export function placeImages(body, images) {
  for (const image of body.querySelectorAll("img[data-remote]")) {
    const one = images.get(Number(image.getAttribute("data-remote")));
    if (one && "data" in one) showImage(image, one);
  }
  return body;
}

/** Whether an image only counts readers. @param {Element} image */
export function isTracker(image) {
  return sidesOf(image).some((side) => side !== null && side <= TRACKER_PX);
}

/**
 * Adds placeholders for images that are not shown, and the base styles. Changes `body`.
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

/**
 * In print no colours are inverted, neither in the frame (card.css), nor back in the images. The server's policy allows
 * only this style.
 */
const PRINTED = "@media print { img { filter: none !important; } }";

/**
 * Builds the frame's document. Changes `body`.
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
 * Shows an image in its requested size, reduced in proportion if there is less space; without one, in its own size.
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

/** The width and height of an image, if they are given in pixels. @param {Element} image */
function sidesOf(image) {
  const style = image.getAttribute("style") ?? "";
  return ["width", "height"].map((name) => {
    const side = image.getAttribute(name) ?? new RegExp(`(?:^|;)${name}:([\\d.]+)px`).exec(style)?.[1] ?? "";
    return /^\d+(?:\.\d+)?$/.test(side) ? Math.round(Number(side)) : null;
  });
}

/**
 * The placeholder for an image that is not shown: a quiet box of its size with its text, or with the reason. An image
 * without size and text has none, and one that only adds space keeps its space.
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

/** @param {(number | null)[]} sides @param {string} width the attribute's text */
function sizeOf([wide = null, high = null], width) {
  return [
    wide !== null ? `width:${wide}px` : width && `width:${width}`,
    wide && high ? `aspect-ratio:${wide}/${high}` : high !== null ? `height:${high}px`
      : `min-height:${PLACEHOLDER_MIN_PX}px`,
  ].filter(Boolean).join(";");
}
