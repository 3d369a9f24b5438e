// @ts-check
/**
 * How much of a page is laid out: a plug-in for markdown-it. What is more than that is shown as it is written.
 *
 * The library's own limit on nesting leaves out what is nested deeper; here nothing of a page is left out. The browser,
 * not the parser, is what takes seconds over too many elements, so they are counted before it gets them.
 */

/**
 * @typedef {import("markdown-it").Token} Token
 * @typedef {import("markdown-it").StateBlock} StateBlock
 * @typedef {import("markdown-it").StateCore} StateCore
 */

/** A quote is one level, a list two: itself and its item. */
const MAX_LEVEL = 20;
/** Of the whole page: blocks, cells, and what stands within them. */
const MAX_ELEMENTS = 40_000;
/** Nobody writes paragraphs that long; those that are longer are shown without emphasis or links. */
const MAX_PARAGRAPH_CHARS = 20_000;
/** One long address may be named by thousands of links: so many characters of it count as another element. */
const CHARS_AN_ELEMENT = 100;

/** @param {import("markdown-it").MarkdownIt} md */
export function withinBounds(md) {
  md.block.ruler.before("table", "too_deep", tooDeep);
  md.core.ruler.at("inline", inlineWithinBounds);
  md.renderer.rules["too_long"] = (tokens, at) =>
    `<p class="quiet-text">From here on the page is too long to be laid out:</p>
<pre tabindex="0">${md.utils.escapeHtml(tokens[at]?.content ?? "")}</pre>\n`;
}

/**
 * What stands at the deepest level is one paragraph, whatever it looks like.
 * @param {StateBlock} state
 * @param {number} startLine
 * @param {number} endLine
 * @param {boolean} silent
 */
function tooDeep(state, startLine, endLine, silent) {
  if (silent || state.level < MAX_LEVEL) return false;
  let end = startLine + 1;
  while (end < endLine && !state.isEmpty(end) && (state.sCount[end] ?? 0) >= state.blkIndent) end += 1;
  state.line = end;
  state.push("paragraph_open", "p", 1).map = [startLine, end];
  const inline = state.push("inline", "", 0);
  inline.content = state.getLines(startLine, end, state.blkIndent, false).trim();
  inline.map = [startLine, end];
  inline.children = [];
  state.push("paragraph_close", "p", -1);
  return true;
}

/**
 * In place of the library's rule of that name, which does the same for every block there is.
 * @param {StateCore} state
 */
function inlineWithinBounds(state) {
  let left = MAX_ELEMENTS;
  let line = 0;
  /** @type {Token[]} */
  const open = [];
  for (const [at, token] of state.tokens.entries()) {
    if (token.nesting < 0) {
      open.pop();
      continue;
    }
    line = token.map?.[0] ?? line;
    if (left < 0) return endAt(state, at, open, line);
    if (token.nesting > 0) open.push(token);
    if (token.type === "inline") parseWithin(token, state);
    left -= 1 + (token.children ?? []).reduce((sum, child) => sum + weight(child), 0);
  }
}

/**
 * @param {Token} token
 * @param {StateCore} state
 */
function parseWithin(token, state) {
  token.children = [];
  if (token.content.length <= MAX_PARAGRAPH_CHARS) {
    state.md.inline.parse(token.content, state.md, state.env, token.children);
    return;
  }
  const text = new state.Token("text", "", 0);
  text.content = token.content;
  token.children.push(text);
}

/** @param {Token} token */
function weight(token) {
  const chars = (token.attrs ?? []).reduce((sum, [, value]) => sum + String(value).length, 0);
  return 1 + Math.floor(chars / CHARS_AN_ELEMENT);
}

/**
 * The tokens before `at`, with what is open closed, and the page's text from `line` on.
 * @param {StateCore} state
 * @param {number} at
 * @param {Token[]} open
 * @param {number} line
 */
function endAt(state, at, open, line) {
  const closing = open.reverse().map((token) => {
    const close = new state.Token(token.type.replace("_open", "_close"), token.tag, -1);
    close.hidden = token.hidden;
    return close;
  });
  const rest = new state.Token("too_long", "", 0);
  rest.content = state.src.split("\n").slice(line).join("\n");
  state.tokens = [...state.tokens.slice(0, at), ...closing, rest];
}
