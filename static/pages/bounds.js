// @ts-check
/**
 * Limits on how much of a page is laid out: a plug-in for markdown-it. The rest is shown as plain text.
 *
 * The library's own nesting limit drops content that is nested deeper; here no content is dropped. Not the parser but
 * the browser takes seconds for too many elements, so they are counted before the browser gets them.
 */

/**
 * @typedef {import("markdown-it").Token} Token
 * @typedef {import("markdown-it").StateBlock} StateBlock
 * @typedef {import("markdown-it").StateCore} StateCore
 */

/** Nesting levels. A quote is one level, a list is two: the list and its item. */
const MAX_LEVEL = 20;
/** In the whole page: blocks, cells, and the elements in them. */
const MAX_ELEMENTS = 40_000;
/** Longer paragraphs are shown without emphasis or links. Nobody writes paragraphs that long. */
const MAX_PARAGRAPH_CHARS = 20_000;
/** Thousands of links may repeat one long address: this many characters of an attribute count as another element. */
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
 * At the deepest level, all text becomes one paragraph, whatever its syntax.
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
 * Replaces the library's rule `inline`, which does the same for all blocks without a limit.
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
 * Keeps the tokens before `at`, closes the open ones, and adds the page's text from `line` on as plain text.
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
