// @ts-check
/**
 * Markdown's blocks: lines of text to a tree of plain records, whose texts inline.js reads on.
 *
 * A subset with one rule above all: each step looks at a line, or at a stretch of text, a bounded number of times. What
 * nests (quotes, list items) does so at most MAX_DEPTH deep; what is deeper is text. No pattern here has two ways to
 * match the same characters, so none can be made to go back and forth.
 */

/**
 * @typedef {{ kind: "paragraph", text: string } | { kind: "heading", level: number, text: string }
 *   | { kind: "code", text: string } | { kind: "rule" } | { kind: "quote", blocks: Block[] }
 *   | { kind: "list", ordered: boolean, start: number, loose: boolean, items: Item[] }
 *   | { kind: "table", head: string[], align: Align[], rows: string[][] }
 *   | { kind: "rest", text: string }} Block
 * @typedef {{ task: boolean | null, blocks: Block[] }} Item `task`: whether it is done, null for what is none
 * @typedef {"left" | "center" | "right" | null} Align
 */

const MAX_DEPTH = 8;
const MAX_COLUMNS = 50;
/** More than that and the browser, not the parser, would be what takes seconds; what follows is shown as it is. */
const MAX_BLOCKS = 10_000;

const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`]*)$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}|$)/;
const TASK = /^\[([ xX])\](?: |$)/;
const RULE = /^(?:-{3,}|\*{3,}|_{3,})$/;
const COLUMN = /^:?-+:?$/;

/**
 * @param {string} text
 * @returns {Block[]}
 */
export function parseBlocks(text) {
  const lines = text.split(/\r\n|\r|\n/).map(spacesAhead);
  return blocksOf(lines, 0, { left: MAX_BLOCKS });
}

/**
 * @param {string[]} lines
 * @param {number} depth
 * @param {{ left: number }} budget
 * @returns {Block[]}
 */
function blocksOf(lines, depth, budget) {
  /** @type {Block[]} */
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    if (isBlank(lines[at])) {
      at += 1;
      continue;
    }
    if (budget.left <= 0) {
      blocks.push({ kind: "rest", text: lines.slice(at).join("\n") });
      break;
    }
    budget.left -= 1;
    const read = blockAt(lines, at, depth, budget);
    blocks.push(read.block);
    at = read.next;
  }
  return blocks;
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {number} depth
 * @param {{ left: number }} budget
 * @returns {{ block: Block, next: number }}
 */
function blockAt(lines, at, depth, budget) {
  const line = lines[at] ?? "";
  const fence = FENCE.exec(line);
  if (fence) return codeAt(lines, at, fence[1] ?? "");
  const heading = HEADING.exec(line);
  if (heading) {
    return { block: { kind: "heading", level: heading[1]?.length ?? 1, text: withoutHashes(heading[2] ?? "") }, next: at + 1 };
  }
  if (isRule(line)) return { block: { kind: "rule" }, next: at + 1 };
  if (depth < MAX_DEPTH && QUOTE.test(line)) return quoteAt(lines, at, depth, budget);
  if (depth < MAX_DEPTH && ITEM.test(line)) return listAt(lines, at, depth, budget);
  return tableAt(lines, at, budget) ?? paragraphAt(lines, at, depth);
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {string} fence
 * @returns {{ block: Block, next: number }}
 */
function codeAt(lines, at, fence) {
  let end = at + 1;
  while (end < lines.length && !closes(lines[end] ?? "", fence)) end += 1;
  return { block: { kind: "code", text: lines.slice(at + 1, end).join("\n") }, next: end + 1 };
}

/**
 * @param {string} line
 * @param {string} fence
 */
function closes(line, fence) {
  const bare = line.trim();
  return bare.length >= fence.length && bare === (fence[0] ?? "").repeat(bare.length);
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {number} depth
 * @param {{ left: number }} budget
 * @returns {{ block: Block, next: number }}
 */
function quoteAt(lines, at, depth, budget) {
  const inner = [];
  let end = at;
  while (end < lines.length && QUOTE.test(lines[end] ?? "")) {
    inner.push(spacesAhead((lines[end] ?? "").replace(QUOTE, "")));
    end += 1;
  }
  return { block: { kind: "quote", blocks: blocksOf(inner, depth + 1, budget) }, next: end };
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {number} depth
 * @param {{ left: number }} budget
 * @returns {{ block: Block, next: number }}
 */
function listAt(lines, at, depth, budget) {
  const kind = kindOf(lines[at] ?? "");
  /** @type {Item[]} */
  const items = [];
  let loose = false;
  let end = at;
  while (end < lines.length && budget.left > 0) {
    const marker = ITEM.exec(lines[end] ?? "");
    if (!marker || isRule(lines[end] ?? "") || kindOf(lines[end] ?? "") !== kind) break;
    budget.left -= 1;
    const read = itemAt(lines, end, marker);
    loose ||= read.loose || (read.blankAfter && kindOf(lines[read.next] ?? "") === kind);
    items.push(itemOf(read.lines, depth, budget));
    end = read.next;
  }
  const ordered = kind === "." || kind === ")";
  const start = ordered ? Number.parseInt((lines[at] ?? "").trim(), 10) : 1;
  return { block: { kind: "list", ordered, start, loose, items }, next: end };
}

/**
 * The lines of one item: the first without its marker, those that are indented below it, and those that go on with its
 * paragraph.
 * @param {string[]} lines
 * @param {number} at
 * @param {RegExpExecArray} marker
 */
function itemAt(lines, at, marker) {
  const width = marker[0].length;
  const inner = [(lines[at] ?? "").slice(width)];
  let loose = false;
  let blanks = 0;
  let end = at + 1;
  for (; end < lines.length; end += 1) {
    const line = lines[end] ?? "";
    if (isBlank(line)) {
      blanks += 1;
      continue;
    }
    const indent = indentOf(line);
    if (indent < 2 && (blanks > 0 || startsBlock(line))) break;
    for (; blanks > 0; blanks -= 1) {
      inner.push("");
      loose = true;
    }
    inner.push(line.slice(Math.min(indent, width)));
  }
  return { lines: inner, loose, blankAfter: blanks > 0, next: end };
}

/**
 * @param {string[]} lines
 * @param {number} depth
 * @param {{ left: number }} budget
 * @returns {Item}
 */
function itemOf(lines, depth, budget) {
  const task = TASK.exec(lines[0] ?? "");
  if (task) lines[0] = (lines[0] ?? "").slice(task[0].length);
  return { task: task ? task[1] !== " " : null, blocks: blocksOf(lines, depth + 1, budget) };
}

/**
 * A line with bars above a line of dashes: `| a | b |` over `|---|:-:|`.
 * @param {string[]} lines
 * @param {number} at
 * @param {{ left: number }} budget
 * @returns {{ block: Block, next: number } | null}
 */
function tableAt(lines, at, budget) {
  const [first, second] = [lines[at] ?? "", lines[at + 1] ?? ""];
  if (!first.includes("|") || !second.includes("-") || !second.includes("|")) return null;
  const columns = cellsOf(second);
  const head = cellsOf(first);
  if (columns.length > MAX_COLUMNS || columns.length !== head.length || !columns.every((one) => COLUMN.test(one))) return null;
  const rows = [];
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? "").includes("|") && budget.left > 0) {
    rows.push(cellsOf(lines[end] ?? "").slice(0, columns.length));
    budget.left -= 1;
    end += 1;
  }
  return { block: { kind: "table", head, align: columns.map(alignOf), rows }, next: end };
}

/**
 * @param {string[]} lines
 * @param {number} at
 * @param {number} depth
 * @returns {{ block: Block, next: number }}
 */
function paragraphAt(lines, at, depth) {
  let end = at + 1;
  while (end < lines.length && !isBlank(lines[end]) && (depth >= MAX_DEPTH || !startsBlock(lines[end] ?? ""))) end += 1;
  const text = lines.slice(at, end).map((line) => line.slice(indentOf(line))).join("\n");
  return { block: { kind: "paragraph", text }, next: end };
}

/** Whether a paragraph ends before this line, without an empty one between. @param {string} line */
function startsBlock(line) {
  return FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || ITEM.test(line) || isRule(line);
}

/** @param {string} line */
function isRule(line) {
  return RULE.test(line.replace(/[ \t]/g, ""));
}

/** @param {string | undefined} line */
function isBlank(line) {
  return line === undefined || line.trim() === "";
}

/** Which list an item belongs to: another sign begins another one. @param {string} line */
function kindOf(line) {
  return ITEM.exec(line)?.[2]?.at(-1) ?? "";
}

/** @param {string} line */
function indentOf(line) {
  let count = 0;
  while (line[count] === " ") count += 1;
  return count;
}

/** Tabs at the beginning as spaces. @param {string} line */
function spacesAhead(line) {
  const end = line.search(/[^ \t]/);
  if (end <= 0 || !line.includes("\t")) return line;
  return line.slice(0, end).replaceAll("\t", "    ") + line.slice(end);
}

/** `## like this ##`. @param {string} text */
function withoutHashes(text) {
  const bare = text.trim();
  let end = bare.length;
  while (end > 0 && bare[end - 1] === "#") end -= 1;
  const closed = end === 0 || bare[end - 1] === " " || bare[end - 1] === "\t";
  return closed ? bare.slice(0, end).trim() : bare;
}

/** The cells between bars that have no backslash before them. @param {string} line */
function cellsOf(line) {
  const bare = line.trim();
  const cells = [];
  let start = bare.startsWith("|") ? 1 : 0;
  for (let at = start; at < bare.length; at += 1) {
    if (bare[at] === "\\") at += 1;
    else if (bare[at] === "|") {
      cells.push(bare.slice(start, at).trim());
      start = at + 1;
    }
  }
  if (start < bare.length) cells.push(bare.slice(start).trim());
  return cells;
}

/**
 * @param {string} dashes
 * @returns {Align}
 */
function alignOf(dashes) {
  if (dashes.startsWith(":") && dashes.endsWith(":")) return "center";
  if (dashes.endsWith(":")) return "right";
  return dashes.startsWith(":") ? "left" : null;
}
