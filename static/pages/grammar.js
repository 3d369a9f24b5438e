// @ts-check
/**
 * Converts Markdown to HTML, as a string: CommonMark by markdown-it, with its tables and strikethrough, and four
 * extensions of our own: front matter, `[[links]]` to pages, bare addresses, and tasks. Pure.
 *
 * HTML in a page is shown as text. All changes are made to the library's tokens, never to a string: headings go one
 * level below the page's title, pictures that are not files of this server become links, other sites open in another
 * tab. bounds.js limits how much of a page is laid out.
 */
import MarkdownIt from "markdown-it";
import { withinBounds } from "./bounds.js";
import { pageHref } from "./paths.js";

/**
 * @typedef {import("markdown-it").Token} Token
 * @typedef {import("markdown-it").StateCore} StateCore
 * @typedef {import("markdown-it").StateInline} StateInline
 * @typedef {import("markdown-it").MarkdownIt} Parser
 */

const MAX_ADDRESS = 2_000;
const MAX_TITLE = 300;
const BELOW = /** @type {Record<string, string>} */ ({ h1: "h2", h2: "h3", h3: "h4", h4: "h5", h5: "h6", h6: "h6" });
const TASK = /^\[([ xX])\](?:\s|$)/;
/** The first line of front matter; without such a key `---` is a ruler. */
const KEY = /^[\w-]+:(?:\s|$)/;
const WIKI = /\[\[([^[\]\n|]{1,1000})(?:\|([^[\]\n]{1,1000}))?\]\]/y;
const SCHEME = /(?:^|[^\p{L}\p{N}_])(https?)$/iu;
const BARE = /:\/\/[^\s<>[\]`|]{1,1990}/y;
const FILE = /^\/files\/[A-Za-z0-9_-]{1,100}\/content$/;
const LEAVES = /^(?:[a-z]+:|\/files\/)/i;

const parser = makeParser();

/** @param {string} text */
export function toHtml(text) {
  return parser.render(text.replace(/\p{Surrogate}/gu, "\ufffd")); // an unpaired surrogate can't be in an address
}

/**
 * The address if a link may lead to it: another site by http or https, a mail address, or a place of this site. Else
 * null.
 * @param {string} address
 */
export function safeHref(address) {
  if (address.length > MAX_ADDRESS || /[\u0000-\u0020\u007f\\]/.test(address)) return null;
  if (/^(?:https?:\/\/|mailto:)[^/]/i.test(address)) return address;
  const beforePath = /^[^/?#]*/.exec(address)?.[0] ?? "";
  return address.startsWith("//") || beforePath.includes(":") ? null : address;
}

function makeParser() {
  const made = new MarkdownIt();
  made.validateLink = (address) => safeHref(address) !== null;
  return made.use(withinBounds).use(frontMatter).use(pageLinks).use(bareAddresses).use(tasks).use(elements);
}

/**
 * Front matter at the head of a page, as it is written: the library would make a heading of it.
 * @param {Parser} md
 */
function frontMatter(md) {
  md.block.ruler.before("table", "front_matter", (state, first, last, silent) => {
    const line = (/** @type {number} */ at) => state.src.slice(state.bMarks[at], state.eMarks[at]).trimEnd();
    if (first !== 0 || state.parentType !== "root" || line(0) !== "---" || !KEY.test(line(1))) return false;
    let end = 1;
    while (end < last && line(end) !== "---") end += 1;
    if (end === last) return false;
    if (silent) return true;
    const token = state.push("code_block", "code", 0);
    token.content = state.getLines(1, end, 0, true);
    token.map = [0, end + 1];
    state.line = end + 1;
    return true;
  });
}

/** `[[path]]` and `[[path|label]]`. @param {Parser} md */
function pageLinks(md) {
  md.inline.ruler.before("link", "page_link", (state, silent) => {
    WIKI.lastIndex = state.pos;
    const [whole = "", target = "", label = target] = WIKI.exec(state.src) ?? [];
    const path = target.split("#")[0]?.split("/").map((part) => part.trim()).join("/");
    if (!path) return false;
    if (!silent) pushLink(state, pageHref(path), label.trim() || path);
    state.pos += whole.length;
    return true;
  });
}

/**
 * Makes a link of a bare address. The library's own search for these (`linkify`) takes seconds for a malicious
 * paragraph of 20,000 characters, and includes the full stop of the sentence in the address.
 * @param {Parser} md
 */
function bareAddresses(md) {
  md.inline.ruler.before("linkify", "bare_address", (state, silent) => {
    if (silent || state.linkLevel > 0 || state.src[state.pos] !== ":") return false;
    const scheme = SCHEME.exec(state.pending.slice(-6))?.[1];
    BARE.lastIndex = state.pos;
    const rest = scheme && withoutEndOfSentence(BARE.exec(state.src)?.[0] ?? "");
    if (!rest || safeHref(scheme + rest) === null) return false;
    state.pending = state.pending.slice(0, -scheme.length);
    pushLink(state, state.md.normalizeLink(scheme + rest), scheme + rest);
    state.pos += rest.length;
    return true;
  });
}

/**
 * Removes punctuation and brackets at the end, which belong to the sentence. A bracket stays if its partner is in the
 * address.
 * @param {string} text
 */
function withoutEndOfSentence(text) {
  let surplus = text.split(")").length - text.split("(").length;
  let end = text.length;
  for (; end > 0; end -= 1) {
    const last = text[end - 1] ?? "";
    if (last === ")" && surplus > 0) surplus -= 1;
    else if (!/[.,;:!?'"*_~]/.test(last)) break;
  }
  return text.slice(0, end);
}

/**
 * @param {StateInline} state
 * @param {string} href
 * @param {string} label
 */
function pushLink(state, href, label) {
  state.push("link_open", "a", 1).attrSet("href", href);
  state.push("text", "", 0).content = label;
  state.push("link_close", "a", -1);
}

/** Tasks: list items that begin with `[ ]` or `[x]`. @param {Parser} md */
function tasks(md) {
  md.core.ruler.before("inline", "tasks", (state) => {
    state.tokens = state.tokens.flatMap((token, at, all) => {
      const first = token.type === "list_item_open" && all[at + 1]?.type === "paragraph_open" ? all[at + 2] : null;
      const match = first && TASK.exec(first.content);
      if (!match) return token;
      first.content = first.content.slice(match[0].length);
      token.attrSet("class", "task");
      const box = new state.Token("task_box", "span", 0);
      box.content = match[1] === " " ? "" : "✓";
      box.hidden = true; // else the library breaks the line before it
      return [token, box];
    });
  });
  md.renderer.rules["task_box"] = (tokens, at) => {
    const done = tokens[at]?.content ?? "";
    return `<span class="task-box" role="img" aria-label="${done ? "Done:" : "To do:"}">${done}</span>`;
  };
}

/** Elements that are rendered differently from the library's default. @param {Parser} md */
function elements(md) {
  const { rules } = md.renderer;
  const { escapeHtml } = md.utils;
  rules["fence"] = rules["code_block"] = (tokens, at) => {
    const language = tokens[at]?.info.trim().split(/\s+/)[0];
    const named = language ? ` class="language-${escapeHtml(md.utils.unescapeAll(language))}"` : "";
    return `<pre tabindex="0"><code${named}>${escapeHtml(tokens[at]?.content ?? "")}</code></pre>\n`;
  };
  rules["table_open"] = () => '<div class="table" role="region" aria-label="Table" tabindex="0"><table>\n';
  rules["table_close"] = () => "</table></div>\n";
  md.core.ruler.push("elements", (state) => {
    for (const token of state.tokens) {
      if (token.type === "heading_open" || token.type === "heading_close") token.tag = BELOW[token.tag] ?? token.tag;
      else if (token.type === "th_open" || token.type === "td_open") asCell(token);
      else if (token.children) token.children = inlineElements(token.children, state);
    }
  });
}

/** The alignment of a column as a class: our elements have no style attributes. @param {Token} token */
function asCell(token) {
  const side = attribute(token, "style").replace("text-align:", "");
  token.attrs = side ? [["class", `to-${side}`]] : [];
  if (token.type === "th_open") token.attrSet("scope", "col");
}

/**
 * @param {Token[]} tokens
 * @param {StateCore} state
 */
function inlineElements(tokens, state) {
  let inLink = false;
  return tokens.flatMap((token) => {
    if (token.type === "link_open") {
      inLink = true;
      asLink(token);
    } else if (token.type === "link_close") inLink = false;
    else if (token.type === "s_open" || token.type === "s_close") token.tag = "del";
    else if (token.type === "image") return imageOrLink(token, inLink, state);
    return token;
  });
}

/** Other sites, and files, open in another tab. @param {Token} token */
function asLink(token) {
  withoutLongTitle(token);
  if (!LEAVES.test(attribute(token, "href"))) return;
  token.attrSet("target", "_blank");
  token.attrSet("rel", "noopener noreferrer");
}

/**
 * A picture from another site would tell that site who reads the page, so it becomes a link.
 * @param {Token} token
 * @param {boolean} inLink
 * @param {StateCore} state
 */
function imageOrLink(token, inLink, state) {
  const src = attribute(token, "src");
  if (FILE.test(src)) {
    token.attrSet("loading", "lazy");
    withoutLongTitle(token);
    return token;
  }
  const label = new state.Token("text", "", 0);
  label.content = state.md.renderer.renderInlineAsText(token.children ?? [], state.md.options, state.env) || src;
  if (inLink) return label;
  const open = new state.Token("link_open", "a", 1);
  open.attrSet("href", src);
  asLink(open);
  return [open, label, new state.Token("link_close", "a", -1)];
}

/** Removes a long title, which thousands of links could repeat. @param {Token} token */
function withoutLongTitle(token) {
  if (attribute(token, "title").length <= MAX_TITLE) return;
  token.attrs = token.attrs?.filter(([name]) => name !== "title") ?? [];
}

/**
 * @param {Token} token
 * @param {string} name
 */
function attribute(token, name) {
  return String(token.attrGet(name) ?? "");
}
