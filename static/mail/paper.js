// @ts-check
/**
 * The document that a message's frame shows: the frame's policy, then the sanitized body, dressed for reading.
 *
 * The frame inherits the app's own policy, which allows style attributes and no style sheets; so the few base styles
 * (fonts, links, placeholders of blocked images) are written as attributes, before the sender's own, which win. This is
 * done in an inert document: nothing in it runs or loads, and nothing of it enters the app's document.
 */

const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const BODY =
  "margin:4px 0 8px;background:#fff;color:#1d2429;overflow-wrap:break-word;" +
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
/** Smaller than this, an image has no room for words. */
const ROOM_FOR_WORDS_PX = 32;
/** Images of this size carry nothing but a count of readers. */
const TRACKER_PX = 2;

/** Parse, without running or loading anything. @param {string} html sanitized by the server */
export function parseInert(html) {
  return new DOMParser().parseFromString(html, "text/html").body;
}

/** The frame's document. Changes `body`. @param {HTMLElement} body from parseInert */
export function frameDocument(body) {
  for (const image of body.querySelectorAll("img[data-remote]")) image.replaceWith(...placeholder(image));
  for (const element of body.querySelectorAll(Object.keys(BASE).join(","))) {
    element.setAttribute("style", `${BASE[element.tagName]};${element.getAttribute("style") ?? ""}`);
  }
  return (
    `<!doctype html><html style="color-scheme:light"><head><meta http-equiv="Content-Security-Policy" content="${POLICY}">` +
    `<meta charset="utf-8"><meta name="referrer" content="no-referrer"></head><body style="${BODY}">${body.innerHTML}</body></html>`
  );
}

/**
 * What stands for a blocked image: a box of its size with its words. Nothing for those that only count readers.
 * @param {Element} image
 */
function placeholder(image) {
  const [width, height] = ["width", "height"].map((name) => image.getAttribute(name) ?? "");
  const sides = [width, height].map((side) => (/^\d+$/.test(side ?? "") ? Number(side) : null));
  if (sides.some((side) => side !== null && side <= TRACKER_PX)) return [];
  const [wide, high] = sides;
  const box = image.ownerDocument.createElement("span");
  const size = [
    width && `width:${wide === null ? width : `${wide}px`}`,
    wide && high && `aspect-ratio:${wide}/${high}`,
    high && !wide && `height:${high}px`,
  ];
  const words = image.getAttribute("alt") ?? "";
  const narrow = sides.some((side) => side !== null && side < ROOM_FOR_WORDS_PX);
  box.setAttribute("style", [PLACEHOLDER, narrow ? "" : "padding:4px 6px", ...size, image.getAttribute("style") ?? ""].filter(Boolean).join(";"));
  box.setAttribute("data-remote", image.getAttribute("data-remote") ?? "");
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", words || "Blocked image");
  if (!narrow) box.append(wide || high ? words : words || "image");
  return [box];
}
