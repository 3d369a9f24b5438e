// @ts-check
/**
 * Estimates the height of a message at a given width.
 *
 * The sandboxed frame runs no script and has its own origin, so it can't report its height, and foreign HTML must not
 * be laid out in the app's own document. So this module lays out the parsed, inert body roughly: text wraps by average
 * widths, cells are side by side, images and paddings count. The estimate holds until the frame reports its height
 * (`sheet.js`). In a browser that never reports it, the estimate stays, and the frame scrolls.
 */

import { PLACEHOLDER_MAX_PX } from "./paper.js";

const MIN_PX = 48;
const MAX_PX = 12_000;
const MAX_NODES = 20_000;
const MAX_DEPTH = 120;
const BODY_FONT_PX = 14;
const BODY_PADDING_PX = 12;
/** Average width of a character and height of a line, relative to the font size. */
const CHAR_EM = 0.5;
const WIDE_CHAR_EM = 1;
const LINE_EM = 1.55;
const NO_SIZE_IMAGE_PX = 24;

const BLOCKS = new Set(
  ("ADDRESS ARTICLE ASIDE BLOCKQUOTE CENTER DD DIV DL DT FIGCAPTION FIGURE FOOTER H1 H2 H3 H4 H5 H6 HEADER HR LI " +
    "MAIN " +
    "NAV OL P PRE SECTION TABLE TBODY TD TFOOT TH THEAD TR UL").split(" "),
);
/** Vertical margins, relative to the font size; margins of neighbours count once. @type {Record<string, number>} */
const MARGINS = { P: 1, UL: 1, OL: 1, BLOCKQUOTE: 0.3, H1: 1, H2: 1, H3: 1, H4: 1.3, DL: 1, PRE: 1, FIGURE: 1, HR: 1 };
/** @type {Record<string, number>} */
const FONTS = { H1: 2, H2: 1.5, H3: 1.17, SMALL: 0.85, BIG: 1.2 };
/** Horizontal indents. @type {Record<string, number>} */
const INDENTS = { UL: 40, OL: 40, BLOCKQUOTE: 16, DD: 40 };

/** @typedef {{ left: number }} Budget */

/**
 * @param {HTMLElement} body of an inert document
 * @param {number} width of the frame in pixels
 */
export function estimateHeight(body, width) {
  const inner = Math.max(160, width);
  const height = blockHeight(body, { width: inner, font: BODY_FONT_PX, depth: 0, pre: false }, { left: MAX_NODES });
  return Math.round(Math.min(MAX_PX, Math.max(MIN_PX, height * 1.04 + BODY_PADDING_PX)));
}

/**
 * @param {Element} element
 * @param {{ width: number, font: number, depth: number, pre: boolean }} within
 * @param {Budget} budget
 * @returns {number}
 */
function blockHeight(element, within, budget) {
  if (element.tagName === "TR") return rowHeight(element, within, budget);
  const line = new Line(within.width);
  let height = 0;
  const flush = () => {
    height += line.end();
  };
  flow(element, within, budget, line, (block, font, pre) => {
    flush();
    height += boxHeight(block, { width: within.width, font, depth: within.depth + 1, pre }, budget);
  });
  flush();
  return height;
}

/**
 * Walks an element's content: inline text and images go to the line, blocks to `onBlock`.
 * @param {Element} element
 * @param {{ font: number, depth: number, pre: boolean }} within
 * @param {Budget} budget
 * @param {Line} line
 * @param {(block: Element, font: number, pre: boolean) => void} onBlock
 */
function flow(element, { font, depth, pre }, budget, line, onBlock) {
  for (const node of element.childNodes) {
    if ((budget.left -= 1) < 0) return;
    if (node.nodeType === Node.TEXT_NODE) line.text(node.nodeValue ?? "", font, pre);
    if (!(node instanceof HTMLElement) || node.style.display === "none") continue;
    if (node.tagName === "BR") line.break(font);
    else if (node.tagName === "IMG") line.image(node);
    else if (BLOCKS.has(node.tagName) && depth < MAX_DEPTH) onBlock(node, fontOf(node, font), pre);
    else flow(node, { font: fontOf(node, font), depth: depth + 1, pre: pre || isPre(node) }, budget, line, onBlock);
  }
}

/**
 * The height of a block with its margins and paddings.
 * @param {Element} element
 * @param {{ width: number, font: number, depth: number, pre: boolean }} within
 * @param {Budget} budget
 */
function boxHeight(element, within, budget) {
  const style = /** @type {HTMLElement} */ (element).style;
  const own = px(style.maxWidth) || px(style.width) || sizeAttribute(element, "width", within.width) || within.width;
  const sides = px(style.paddingLeft) + px(style.paddingRight) + (INDENTS[element.tagName] ?? 0);
  const width = Math.max(40, Math.min(own, within.width) - sides);
  const ends = px(style.paddingTop) + px(style.paddingBottom) + px(style.marginTop) + px(style.marginBottom);
  const margins = style.margin || style.marginTop || style.marginBottom ? 0
    : (MARGINS[element.tagName] ?? 0) * within.font;
  const content = blockHeight(element, { ...within, width, pre: within.pre || isPre(element) }, budget);
  return Math.max(content, px(style.height), sizeAttribute(element, "height", 0)) + ends + margins;
}

/**
 * The height of a table row: its cells are side by side; those without a width share the rest.
 * @param {Element} row
 * @param {{ width: number, font: number, depth: number, pre: boolean }} within
 * @param {Budget} budget
 */
function rowHeight(row, within, budget) {
  const cells = [...row.children];
  const asked = cells.map((cell) => cellWidth(cell, within.width));
  const left = within.width - asked.reduce((sum, one) => sum + one, 0);
  const share = Math.max(40, left / Math.max(1, asked.filter((one) => !one).length));
  const heights = cells.map((cell, index) =>
    boxHeight(cell, { ...within, width: asked[index] || share, font: fontOf(cell, within.font) }, budget),
  );
  return Math.max(0, ...heights);
}

/** @param {Element} cell @param {number} whole */
function cellWidth(cell, whole) {
  const asked = px(/** @type {HTMLElement} */ (cell).style.width) || sizeAttribute(cell, "width", whole);
  return Math.min(asked, whole);
}

/** Fills lines with inline content. */
class Line {
  /** @param {number} width */
  constructor(width) {
    this.width = width;
    this.used = 0;
    this.tallest = 0;
    this.height = 0;
  }

  /**
   * @param {string} text
   * @param {number} font
   * @param {boolean} pre
   */
  text(text, font, pre) {
    const lines = pre ? text.split("\n") : [text.replace(/\s+/g, " ")];
    lines.forEach((one, index) => {
      if (index) this.break(font);
      if (pre || one.trim()) this.#add(textWidth(one, font), font * LINE_EM);
    });
  }

  /** @param {number} font */
  break(font) {
    this.tallest ||= font * LINE_EM;
    this.#wrap();
  }

  /** @param {HTMLElement} image */
  image(image) {
    const natural = sizeAttribute(image, "width", this.width) || px(image.style.width);
    const width = Math.min(this.width, natural);
    const asked = sizeAttribute(image, "height", 0) || px(image.style.height);
    const shrunk = natural ? width / natural : 1;
    const height = asked * shrunk || NO_SIZE_IMAGE_PX;
    this.#add(width, image.hasAttribute("src") ? height : Math.min(height, PLACEHOLDER_MAX_PX));
  }

  /** Ends the lines before a block; returns their height. */
  end() {
    this.#wrap();
    const { height } = this;
    this.height = 0;
    return height;
  }

  #wrap() {
    this.height += this.tallest;
    this.used = this.tallest = 0;
  }

  /**
   * @param {number} width
   * @param {number} height
   */
  #add(width, height) {
    if (!width && !height) return;
    this.tallest = Math.max(this.tallest, height);
    this.used += width;
    while (this.used > this.width) {
      this.height += this.tallest;
      this.used -= this.width;
      this.tallest = height;
    }
  }
}

/** @param {string} text @param {number} font */
function textWidth(text, font) {
  let wide = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) >= 0x2e80) wide += 1;
  return font * ((text.length - wide) * CHAR_EM + wide * WIDE_CHAR_EM);
}

/** @param {Element} element @param {number} inherited */
function fontOf(element, inherited) {
  const asked = px(/** @type {HTMLElement} */ (element).style.fontSize);
  return asked || inherited * (FONTS[element.tagName] ?? 1);
}

/** @param {Element} element */
function isPre(element) {
  return element.tagName === "PRE" || /** @type {HTMLElement} */ (element).style.whiteSpace.startsWith("pre");
}

/** Pixels, or 0 for any other unit. @param {string} length */
function px(length) {
  return length.endsWith("px") ? Math.max(0, Number.parseFloat(length)) || 0 : 0;
}

/**
 * @param {Element} element
 * @param {"width" | "height"} name
 * @param {number} whole the base of a percentage
 */
function sizeAttribute(element, name, whole) {
  const value = element.getAttribute(name) ?? "";
  const size = Number.parseFloat(value) || 0;
  return value.trim().endsWith("%") ? (size / 100) * whole : size;
}
