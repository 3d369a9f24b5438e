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
  "max-width:100%;box-sizing:border-box;background:#eef2f3;outline:1px dashed #bcc7cc;outline-offset:-1px;" +
  "border-radius:3px;color:#566269;font-size:12px";

/** Parse, without running or loading anything. @param {string} html sanitized by the server */
export function parseInert(html) {
  return new DOMParser().parseFromString(html, "text/html").body;
}

/** The frame's document. Changes `body`. @param {HTMLElement} body from parseInert */
export function frameDocument(body) {
  for (const element of body.querySelectorAll(Object.keys(BASE).join(","))) {
    const base = element.hasAttribute("data-remote") ? PLACEHOLDER : BASE[element.tagName];
    element.setAttribute("style", `${base};${element.getAttribute("style") ?? ""}`);
  }
  return (
    `<!doctype html><html style="color-scheme:light"><head><meta http-equiv="Content-Security-Policy" content="${POLICY}">` +
    `<meta charset="utf-8"><meta name="referrer" content="no-referrer"></head><body style="${BODY}">${body.innerHTML}</body></html>`
  );
}
