// @ts-check
/**
 * The formats of the editor, by name: how each is applied and removed, and which marks at the start of a line create
 * it. Uses Squire and its document; independent of mail.
 */
import { caretIn } from "./caret.js";

/** @typedef {import("squire-rte").default} Squire */
/**
 * @typedef {"bold" | "italic" | "link" | "bullets" | "numbers" | "quotation" | "code" | "heading"
 *   | "subheading"} Format
 */

/**
 * The elements of each format: the caret in any of them means that the format is on.
 * @type {Record<Format, string[]>}
 */
const ELEMENTS = {
  bold: ["B", "STRONG"], italic: ["I", "EM"], link: ["A"], bullets: ["UL"], numbers: ["OL"],
  quotation: ["BLOCKQUOTE"], code: ["CODE", "PRE"], heading: ["H1", "H2"], subheading: ["H3"],
};
/** @type {Record<string, Format>} */
const BEGINNINGS = { "-": "bullets", "*": "bullets", "1.": "numbers", ">": "quotation", "#": "heading",
  "##": "subheading", "```": "code" };
const LINES = "div, p, h1, h2, h3, h4, h5, h6";
/** Elements whose lines never become headings. */
const NOT_THERE = "li, td, th, pre, [data-signature]";

/** @param {Squire} squire @returns {ReadonlySet<Format>} what the caret is in */
export function formatsOf(squire) {
  const names = /** @type {Format[]} */ (Object.keys(ELEMENTS));
  return new Set(names.filter((name) => isOn(squire, name)));
}

/** @param {Squire} squire @param {Exclude<Format, "link">} format */
export function toggleFormat(squire, format) {
  const on = isOn(squire, format);
  if (format === "bold") on ? squire.removeBold() : squire.bold();
  else if (format === "italic") on ? squire.removeItalic() : squire.italic();
  else if (format === "bullets") on ? squire.removeList() : squire.makeUnorderedList();
  else if (format === "numbers") on ? squire.removeList() : squire.makeOrderedList();
  else if (format === "quotation") on ? squire.decreaseQuoteLevel() : squire.increaseQuoteLevel();
  else if (format === "code") on ? removeCode(squire) : squire.code();
  else setLines(squire, on ? "div" : format === "heading" ? "h2" : "h3");
}

/**
 * Removes all formats from the selection. With nothing selected: from the line with the caret.
 * @param {Squire} squire
 */
export function clearFormats(squire) {
  const selected = !squire.getSelection().collapsed;
  if (isOn(squire, "code")) removeCode(squire);
  if (isOn(squire, "bullets") || isOn(squire, "numbers")) squire.removeList();
  if (isOn(squire, "quotation")) squire.removeQuote();
  setLines(squire, "div");
  if (selected) squire.removeAllFormatting();
}

/**
 * A line that contains only a Markdown mark (`- `, `1. `, `> `, `# `) gets the format of the mark. Undo restores the
 * mark. Resolves to whether it was one.
 * @param {Squire} squire
 */
export function beginLine(squire) {
  const caret = caretIn(squire.getSelection());
  const line = caret?.text.parentElement?.closest(LINES);
  if (!caret || !line || line.querySelector(LINES)) return false;
  const mark = (line.textContent ?? "").replaceAll("\u200b", "");
  const format = BEGINNINGS[mark];
  if (!format || caret.text.data.slice(caret.offset) || line.closest(`${NOT_THERE}, blockquote`)) return false;
  squire.saveUndoState();
  line.replaceChildren(document.createElement("br"));
  const range = document.createRange();
  range.setStart(line, 0);
  squire.setSelection(range);
  toggleFormat(squire, /** @type {Exclude<Format, "link">} */ (format));
  return true;
}

/** @param {Squire} squire @param {Format} format */
function isOn(squire, format) {
  return ELEMENTS[format].some((element) => squire.hasFormat(element));
}

/** Turns a block of code into lines: Squire's own function leaves the text without any block. @param {Squire} squire */
function removeCode(squire) {
  if (!squire.hasFormat("PRE")) {
    squire.removeCode();
    return;
  }
  squire.modifyBlocks((fragment) => {
    for (const block of fragment.querySelectorAll("pre")) block.replaceWith(...linesOf(block));
    return fragment;
  });
}

/** @param {Element} block a block of text with line breaks */
function linesOf(block) {
  const lines = [document.createElement("div")];
  for (const node of [...block.childNodes]) {
    const [first, ...more] = node instanceof Text ? node.data.split("\n") : [node];
    lines.at(-1)?.append(first ?? "");
    for (const text of more) {
      lines.push(document.createElement("div"));
      lines.at(-1)?.append(text);
    }
  }
  for (const line of lines.filter((one) => !one.textContent && !one.querySelector("br"))) {
    line.append(document.createElement("br"));
  }
  return lines;
}

/** @param {Squire} squire @param {"div" | "h2" | "h3"} element */
function setLines(squire, element) {
  squire.modifyBlocks((fragment) => {
    for (const line of fragment.querySelectorAll(LINES)) {
      if (line.querySelector(LINES) || line.closest(NOT_THERE)) continue;
      const made = document.createElement(element);
      made.append(...line.childNodes);
      line.replaceWith(made);
    }
    return fragment;
  });
}
