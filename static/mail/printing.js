// @ts-check
/**
 * Prints one message: its headers and the shown content, without the app around it, light, with the loaded images.
 *
 * The frame that shows a message can't print itself, and the app can't access it. So another frame is created only for
 * this, with the same restrictions except for one script, which asks the browser to print it. The policy in its head,
 * and the app's policy, which it inherits, allow exactly this script; the frame has its own origin, and no network.
 */
import { fileSize, fullTime } from "../ui/format.js";
import { BODY_STYLE, dress, parseInert, placeImages } from "./paper.js";

/** The server's policy contains its hash (`svc/protocol/security.py`): change both together. */
const SCRIPT =
  "addEventListener('afterprint',()=>parent.postMessage('printed','*'));addEventListener('load',()=>print())";
const SCRIPT_HASH = "sha256-QQ/7uRg6v0wzG9MBDmtS3/yldBimY9c6CuxuCLQxP2I=";
const POLICY = `default-src 'none'; script-src '${SCRIPT_HASH}'; style-src 'unsafe-inline'; img-src data:`;

const RULED = "margin:16px 0 0;padding:8px 0 0;border-top:1px solid #bbb;font-size:13px";

/**
 * @typedef {object} Shown
 * @property {import("./images.js").Images} images
 * @property {boolean} folded without the known quotation and signature
 * @property {string | null} text the message as plain text, if it is shown like that
 */

/** @param {Message} message @param {Shown} shown */
export function printMessage(message, shown) {
  document.querySelector("iframe.printed")?.remove();
  const frame = document.createElement("iframe");
  frame.className = "printed";
  frame.title = "What is printed";
  frame.setAttribute("sandbox", "allow-scripts allow-modals");
  frame.setAttribute("aria-hidden", "true");
  frame.tabIndex = -1;
  frame.srcdoc = paperOf(message, shown);
  const done = (/** @type {MessageEvent} */ event) => {
    if (event.source !== frame.contentWindow) return;
    removeEventListener("message", done);
    frame.remove();
  };
  addEventListener("message", done);
  document.body.append(frame);
}

/** @param {Message} message @param {Shown} shown */
function paperOf(message, { images, folded, text }) {
  const page = document.implementation.createHTMLDocument(message.subject || "(no subject)");
  page.body.setAttribute("style", `background:#fff;${BODY_STYLE}`);
  page.body.append(headOf(page, message));
  const body = placeImages(parseInert(message.html, folded), images);
  if (text === null) page.body.append(...dress(body, images).childNodes);
  else page.body.append(part(page, "div", "white-space:pre-wrap;overflow-wrap:break-word", text));
  const files = message.attachments.map((one) => `${one.filename} (${fileSize(one.size)})`).join(", ");
  if (files) page.body.append(part(page, "p", RULED, `Attached: ${files}`));
  return `<!doctype html><html style="color-scheme:light"><head>` +
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}"><meta charset="utf-8">` +
    `<meta name="referrer" content="no-referrer">${page.head.innerHTML}<script>${SCRIPT}</script></head>` +
    `${page.body.outerHTML}</html>`;
}

/** @param {Document} page @param {Message} message */
function headOf(page, message) {
  const head = part(page, "div", "margin:0 0 16px;padding:0 0 12px;border-bottom:1px solid #bbb;font-size:13px");
  head.append(part(page, "div", "margin:0 0 8px;font-size:20px;font-weight:600", message.subject || "(no subject)"));
  const rows = /** @type {[string, string][]} */ ([
    ["From", mailbox(message.from)],
    ["To", message.to.map(mailbox).join(", ")],
    ["Cc", message.cc.map(mailbox).join(", ")],
    ["Date", fullTime(message.sentAt)],
  ]);
  for (const [name, value] of rows) {
    if (value) head.append(part(page, "div", "overflow-wrap:anywhere", `${name}: ${value}`));
  }
  return head;
}

/** @param {Document} page @param {string} tag @param {string} style @param {string} [words] */
function part(page, tag, style, words = "") {
  const element = page.createElement(tag);
  element.setAttribute("style", style);
  element.setAttribute("dir", "auto");
  element.textContent = words;
  return element;
}

/** @param {Person} person */
function mailbox({ name, address }) {
  return name ? `${name} <${address}>` : address;
}
