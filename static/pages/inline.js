// @ts-check
/**
 * Markdown within a line of thought: emphasis, code, links, pictures. Text to a tree of plain records.
 *
 * One pass cuts the text into pieces; signs of emphasis find their partner among the last MAX_OPEN that are still open;
 * a second pass folds the marked pieces into a tree. Both are linear, and the tree is at most MAX_OPEN deep. No link and
 * no picture goes anywhere but where `safeHref` and the pattern of a file's address let it.
 */
import { pageHref } from "./paths.js";

/**
 * @typedef {{ kind: "text", text: string } | { kind: "code", text: string } | { kind: "break" }
 *   | { kind: "image", src: string, alt: string } | { kind: "link", href: string, children: Inline[] }
 *   | { kind: "em" | "strong" | "del", children: Inline[] }} Inline
 * @typedef {{ sign: string, opens: boolean, closes: boolean, mark: "open" | "close" | null }} Sign
 * @typedef {{ leaf: Inline } | Sign} Piece
 */

const MAX_OPEN = 16;
/** Nobody writes paragraphs that long; laid out they could be more elements than a browser bears. */
const MAX_CHARS = 20_000;
const MAX_CODE_RUN = 16;

const SPECIAL = /[\\`![<*_~\n]|https?:\/\//g;
const PUNCTUATION = /[!-/:-@[-`{-~]/;
const WIKI = /\[\[([^[\]\n|]{1,1000})(?:\|([^[\]\n]{1,1000}))?\]\]/y;
const IMAGE = /!\[([^[\]\n]{0,300})\]\((\/files\/[A-Za-z0-9_-]{1,100}\/content)\)/y;
const LINK = /\[([^[\]\n]{1,1000})\]\(/y;
const ANGLE = /<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/y;
const BARE = /https?:\/\/[^\s<>[\]`|]{1,2000}/y;
const IN_ADDRESS = /[^\s<>[\]`]/;
const MAX_ADDRESS = 2_000;
const SIGNS = /** @type {Record<string, "em" | "strong" | "del">} */ ({ "*": "em", _: "em", "**": "strong", __: "strong", "~~": "del" });

/**
 * @param {string} text
 * @returns {Inline[]}
 */
export function parseInline(text) {
  return text.length > MAX_CHARS ? [{ kind: "text", text }] : fold(cut(text, true));
}

/**
 * Where a link may lead: another site by http or https, a mail address, or a place of this one. Null: nowhere.
 * @param {string} address
 */
export function safeHref(address) {
  if (/[\u0000-\u0020\u007f\\]/.test(address)) return null;
  if (/^(?:https?:\/\/|mailto:)[^/]/i.test(address)) return address;
  const beforePath = /^[^/?#]*/.exec(address)?.[0] ?? "";
  return address === "" || address.startsWith("//") || beforePath.includes(":") ? null : address;
}

/**
 * @param {string} text
 * @param {boolean} links whether there may be some: not within one
 * @returns {Piece[]}
 */
function cut(text, links) {
  /** @type {Piece[]} */
  const pieces = [];
  /** @type {Sign[]} */
  const open = [];
  const code = codeSpans(text);
  let plainFrom = 0;
  const plainTo = (/** @type {number} */ end) => {
    if (end > plainFrom) pieces.push({ leaf: { kind: "text", text: text.slice(plainFrom, end) } });
  };
  SPECIAL.lastIndex = 0;
  for (let at = nextSpecial(text, 0); at < text.length; ) {
    const found = leafAt(text, at, code, links);
    if (found) {
      plainTo(found.from ?? at);
      pieces.push({ leaf: found.leaf });
      at = plainFrom = found.next;
    } else if (isSign(text[at])) {
      const length = runLength(text, at);
      plainTo(at);
      for (const piece of signsAt(text, at, length)) {
        if ("sign" in piece) pair(piece, open);
        pieces.push(piece);
      }
      at = plainFrom = at + length;
    } else {
      at += text[at] === "`" ? runLength(text, at) : 1;
    }
    at = nextSpecial(text, at);
  }
  plainTo(text.length);
  return pieces;
}

/**
 * @param {string} text
 * @param {number} from
 */
function nextSpecial(text, from) {
  SPECIAL.lastIndex = from;
  return SPECIAL.exec(text)?.index ?? text.length;
}

/**
 * What begins at `at` and is whole by itself; null if nothing does.
 * @param {string} text
 * @param {number} at
 * @param {Map<number, number>} code
 * @param {boolean} links
 * @returns {{ leaf: Inline, next: number, from?: number } | null}
 */
function leafAt(text, at, code, links) {
  switch (text[at]) {
    case "\\":
      return escaped(text, at);
    case "\n":
      return lineEnd(text, at);
    case "`":
      return codeAt(text, at, code);
    case "!": {
      const image = matchAt(IMAGE, text, at);
      return image && { leaf: { kind: "image", alt: image[1] ?? "", src: image[2] ?? "" }, next: IMAGE.lastIndex };
    }
    case "[":
      return links ? wikiAt(text, at) ?? linkAt(text, at) : null;
    case "<": {
      const angle = links && matchAt(ANGLE, text, at);
      return angle ? { leaf: linkOf(angle[1] ?? "", angle[1] ?? ""), next: at + angle[0].length } : null;
    }
    case "h":
      return links ? bareAt(text, at) : null;
    default:
      return null;
  }
}

/**
 * @param {string} text
 * @param {number} at
 * @returns {{ leaf: Inline, next: number } | null}
 */
function escaped(text, at) {
  const after = text[at + 1] ?? "";
  if (after === "\n") return { leaf: { kind: "break" }, next: at + 2 };
  return PUNCTUATION.test(after) ? { leaf: { kind: "text", text: after }, next: at + 2 } : null;
}

/**
 * Two spaces before it make a line's end a break; else it is a space, as anywhere.
 * @param {string} text
 * @param {number} at
 * @returns {{ leaf: Inline, next: number } | null}
 */
function lineEnd(text, at) {
  return text.startsWith("  ", at - 2) ? { leaf: { kind: "break" }, next: at + 1 } : null;
}

/**
 * @param {string} text
 * @param {number} at
 * @param {Map<number, number>} code
 * @returns {{ leaf: Inline, next: number } | null}
 */
function codeAt(text, at, code) {
  const end = code.get(at);
  if (end === undefined) return null;
  const length = runLength(text, at);
  const inner = text.slice(at + length, end - length).replaceAll("\n", " ");
  const padded = inner.length > 2 && inner.startsWith(" ") && inner.endsWith(" ");
  return { leaf: { kind: "code", text: padded ? inner.slice(1, -1) : inner }, next: end };
}

/**
 * For each run of backticks that a later run of the same length closes: where the code ends. Read from the end, so that
 * the nearest partner of each is known when it is met.
 * @param {string} text
 */
function codeSpans(text) {
  /** @type {{ at: number, length: number }[]} */
  const runs = [];
  for (let at = text.indexOf("`"); at >= 0; ) {
    const length = runLength(text, at);
    runs.push({ at, length });
    at = text.indexOf("`", at + length);
  }
  /** @type {Map<number, number>} */
  const nearest = new Map();
  /** @type {Map<number, number>} */
  const ends = new Map();
  for (const { at, length } of runs.reverse()) {
    const partner = nearest.get(length);
    if (partner !== undefined && length <= MAX_CODE_RUN) ends.set(at, partner + length);
    nearest.set(length, at);
  }
  return ends;
}

/**
 * @param {string} text
 * @param {number} at
 * @returns {{ leaf: Inline, next: number } | null}
 */
function wikiAt(text, at) {
  const match = matchAt(WIKI, text, at);
  if (!match) return null;
  const path = (match[1] ?? "").split("#")[0]?.split("/").map((part) => part.trim()).join("/") ?? "";
  if (!path) return null;
  const label = (match[2] ?? match[1] ?? "").trim() || path;
  return { leaf: { kind: "link", href: pageHref(path), children: [{ kind: "text", text: label }] }, next: at + match[0].length };
}

/**
 * @param {string} text
 * @param {number} at
 * @returns {{ leaf: Inline, next: number } | null}
 */
function linkAt(text, at) {
  const match = matchAt(LINK, text, at);
  if (!match) return null;
  const start = at + match[0].length;
  const end = addressEnd(text, start);
  const href = text[end] === ")" ? safeHref(text.slice(start, end)) : null;
  if (href === null) return null;
  return { leaf: { kind: "link", href, children: fold(cut(match[1] ?? "", false)) }, next: end + 1 };
}

/**
 * The bracket that closes an address, or wherever it stops to be one. Pairs of brackets within belong to it.
 * @param {string} text
 * @param {number} start
 */
function addressEnd(text, start) {
  let depth = 0;
  let at = start;
  for (; at < text.length && at - start < MAX_ADDRESS && IN_ADDRESS.test(text[at] ?? ""); at += 1) {
    if (text[at] === "(") depth += 1;
    if (text[at] === ")" && depth-- === 0) break;
  }
  return at;
}

/**
 * An address that stands by itself; a full stop or a bracket after it is the sentence's.
 * @param {string} text
 * @param {number} at
 * @returns {{ leaf: Inline, next: number } | null}
 */
function bareAt(text, at) {
  if (at > 0 && /[\p{L}\p{N}_]/u.test(text[at - 1] ?? "")) return null;
  const match = matchAt(BARE, text, at);
  if (!match) return null;
  let length = match[0].length;
  let surplus = 0; // closing brackets without a partner within the address
  for (const sign of match[0]) surplus += sign === ")" ? 1 : sign === "(" ? -1 : 0;
  for (; length > 0; length -= 1) {
    const last = match[0][length - 1] ?? "";
    if (last === ")" && surplus > 0) surplus -= 1;
    else if (!/[.,;:!?'"*_~]/.test(last)) break;
  }
  const address = match[0].slice(0, length);
  return safeHref(address) === null ? null : { leaf: linkOf(address, address), next: at + length };
}

/**
 * @param {string} href
 * @param {string} text
 * @returns {Inline}
 */
function linkOf(href, text) {
  const safe = safeHref(href);
  /** @type {Inline} */
  const shown = { kind: "text", text: text.replace(/^mailto:/, "") };
  return safe === null ? shown : { kind: "link", href: safe, children: [shown] };
}

// Emphasis

/**
 * The pieces that a run of signs makes: one, two or three of them may mean something, more are text.
 * @param {string} text
 * @param {number} at
 * @param {number} length
 * @returns {Piece[]}
 */
function signsAt(text, at, length) {
  const run = text.slice(at, at + length);
  const parts = run === "***" ? ["**", "*"] : run === "___" ? ["__", "_"] : [run];
  if (parts.some((part) => !(part in SIGNS))) return [{ leaf: { kind: "text", text: run } }];
  const [before, after] = [text[at - 1] ?? " ", text[at + length] ?? " "];
  const inWord = run.startsWith("_") && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(after);
  const opens = !/\s/.test(after) && !inWord && (!isMark(after) || /\s/.test(before) || isMark(before));
  const closes = !/\s/.test(before) && !inWord && (!isMark(before) || /\s/.test(after) || isMark(after));
  if (parts.length > 1 && closes && !opens) parts.reverse();
  return parts.map((sign) => ({ sign, opens, closes, mark: null }));
}

/** @param {string} letter */
function isMark(letter) {
  return /[\p{P}\p{S}]/u.test(letter);
}

/**
 * Find the partner of a sign, or leave it open for one that comes. Those between the two stay text.
 * @param {Sign} piece
 * @param {Sign[]} open
 */
function pair(piece, open) {
  if (piece.closes) {
    const partner = open.findLastIndex((one) => one.sign === piece.sign);
    const opener = open[partner];
    if (opener) {
      opener.mark = "open";
      piece.mark = "close";
      open.length = partner;
      return;
    }
  }
  if (!piece.opens) return;
  open.push(piece);
  if (open.length > MAX_OPEN) open.shift();
}

/**
 * @param {Piece[]} pieces
 * @returns {Inline[]}
 */
function fold(pieces) {
  /** @type {Inline[]} */
  const top = [];
  const stack = [top];
  for (const piece of pieces) {
    const here = stack.at(-1) ?? top;
    if ("leaf" in piece) here.push(piece.leaf);
    else if (piece.mark === "close") stack.pop();
    else if (piece.mark === "open") {
      /** @type {Inline[]} */
      const children = [];
      here.push({ kind: SIGNS[piece.sign] ?? "em", children });
      stack.push(children);
    } else here.push({ kind: "text", text: piece.sign });
  }
  return top;
}

/** @param {string | undefined} letter */
function isSign(letter) {
  return letter === "*" || letter === "_" || letter === "~";
}

/**
 * How often the sign at `at` stands there.
 * @param {string} text
 * @param {number} at
 */
function runLength(text, at) {
  let end = at + 1;
  while (text[end] === text[at]) end += 1;
  return end - at;
}

/**
 * @param {RegExp} sticky
 * @param {string} text
 * @param {number} at
 */
function matchAt(sticky, text, at) {
  sticky.lastIndex = at;
  return sticky.exec(text);
}
