// @ts-check
/**
 * The document that a message's frame shows: the frame's policy, then the sanitized body, dressed for reading.
 *
 * The frame inherits the app's own policy, which allows style attributes and no style sheets; so the few base styles
 * (fonts, links, placeholders of blocked images) are written as attributes, before the sender's own, which win. This is
 * done in an inert document: nothing in it runs or loads, and nothing of it enters the app's document.
 */
import { END_PX } from "./sheet.js";

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const BODY =
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
const PLACEHOLDER =
  "display:inline-block;max-width:100%;box-sizing:border-box;overflow:hidden;vertical-align:middle;" +
  "background:#eef2f3;outline:1px dashed #bcc7cc;outline-offset:-1px;border-radius:3px;" +
  "color:#566269;font-size:12px;line-height:16px;text-align:center";
/** On dark paper all colours are turned, and those of an image turned back. */
export const TURN = "invert(1) hue-rotate(180deg)";
/** Smaller than this, an image has no room for words. */
const ROOM_FOR_WORDS_PX = 32;
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
 * The frame's document. Changes `body`.
 * @param {HTMLElement} body from placeImages
 * @param {import("./images.js").Images} images
 * @param {boolean} dark on dark paper
 * @param {number} width of the frame in pixels
 */
export function frameDocument(body, images, dark, width) {
  for (const image of body.querySelectorAll("img[data-remote]:not([src])")) {
    const one = images.get(Number(image.getAttribute("data-remote")));
    if (isTracker(image)) image.remove();
    else image.replaceWith(placeholder(image, one && "reason" in one ? one.reason : ""));
  }
  for (const element of body.querySelectorAll(Object.keys(BASE).join(","))) {
    const again = dark && element.tagName === "IMG" ? `filter:${TURN};` : "";
    element.setAttribute("style", `${BASE[element.tagName]};${again}${element.getAttribute("style") ?? ""}`);
  }
  return (
    `<!doctype html><html style="color-scheme:light;width:${width}px;padding-bottom:${END_PX}px"><head>` +
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">` +
    `<meta name="responsive-embedded-sizing" content="allow-origins=${location.origin}">` +
    '<meta charset="utf-8"><meta name="referrer" content="no-referrer"></head>' +
    `<body style="background:${dark ? "transparent" : "#fff"};${BODY}">${body.innerHTML}</body></html>`
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
  return ["width", "height"].map((name) => {
    const side = image.getAttribute(name) ?? "";
    return /^\d+$/.test(side) ? Number(side) : null;
  });
}

/**
 * What stands for an image that is not shown: a box of its size with its words, or with what was in the way.
 * @param {Element} image
 * @param {string} reason
 */
function placeholder(image, reason) {
  const width = image.getAttribute("width") ?? "";
  const sides = sidesOf(image);
  const [wide, high] = sides;
  const box = image.ownerDocument.createElement("span");
  const size = [
    width && `width:${wide === null ? width : `${wide}px`}`,
    wide && high && `aspect-ratio:${wide}/${high}`,
    high && !wide && `height:${high}px`,
  ];
  const words = [image.getAttribute("alt") ?? "", reason].filter(Boolean).join(" – ");
  const narrow = sides.some((side) => side !== null && side < ROOM_FOR_WORDS_PX);
  box.setAttribute("style", [PLACEHOLDER, narrow ? "" : "padding:4px 6px", ...size, image.getAttribute("style") ?? ""]
    .filter(Boolean).join(";"));
  box.setAttribute("data-remote", image.getAttribute("data-remote") ?? "");
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", words || "Blocked image");
  if (reason) box.setAttribute("title", reason);
  if (!narrow) box.append(wide || high ? words : words || "image");
  return box;
}
