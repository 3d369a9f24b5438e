// @ts-check
/**
 * Markdown as nodes. What blocks.js and inline.js found becomes elements of a short list; everything else is text.
 * A heading of the text stands one level below the page's title.
 */
import { useMemo } from "preact/hooks";
import { html } from "../ui/html.js";
import { parseBlocks } from "./blocks.js";
import { parseInline } from "./inline.js";

/**
 * @typedef {import("./blocks.js").Block} Block
 * @typedef {import("./inline.js").Inline} Inline
 */

const HEADINGS = ["h2", "h3", "h4", "h5", "h6", "h6"];

/** @param {{ text: string }} props */
export function Markdown({ text }) {
  return useMemo(() => html`<div class="prose">${parseBlocks(text).map(blockNode)}</div>`, [text]);
}

/**
 * @param {Block} block
 * @returns {any}
 */
function blockNode(block) {
  switch (block.kind) {
    case "paragraph":
      return html`<p>${inlineNodes(block.text)}</p>`;
    case "heading":
      return html`<${HEADINGS[block.level - 1] ?? "h6"}>${inlineNodes(block.text)}</>`;
    case "code":
      return html`<pre tabindex="0"><code>${block.text}</code></pre>`;
    case "rule":
      return html`<hr />`;
    case "quote":
      return html`<blockquote>${block.blocks.map(blockNode)}</blockquote>`;
    case "list":
      return listNode(block);
    case "table":
      return tableNode(block);
    default:
      return html`<p class="quiet-text">From here on the page is too long to be laid out:</p>
        <pre tabindex="0">${block.text}</pre>`;
  }
}

/** @param {Block & { kind: "list" }} list */
function listNode(list) {
  const items = list.items.map((item) => {
    const [first, ...others] = item.blocks;
    const tight = !list.loose && first?.kind === "paragraph";
    return html`<li class=${item.task === null ? undefined : "task"}>
      ${item.task !== null && html`<span class="task-box" role="img" aria-label=${item.task ? "Done:" : "To do:"}>${item.task ? "✓" : ""}</span>`}
      <div>${tight ? html`${inlineNodes(first.text)}${others.map(blockNode)}` : item.blocks.map(blockNode)}</div>
    </li>`;
  });
  return list.ordered ? html`<ol start=${list.start}>${items}</ol>` : html`<ul>${items}</ul>`;
}

/** @param {Block & { kind: "table" }} table */
function tableNode({ head, align, rows }) {
  const side = (/** @type {number} */ column) => (align[column] ? `to-${align[column]}` : undefined);
  return html`<div class="table" role="region" aria-label="Table" tabindex="0"><table>
    <thead><tr>${head.map((cell, column) => html`<th scope="col" class=${side(column)}>${inlineNodes(cell)}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell, column) => html`<td class=${side(column)}>${inlineNodes(cell)}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

/** @param {string} text */
function inlineNodes(text) {
  return parseInline(text).map(inlineNode);
}

/**
 * @param {Inline} part
 * @returns {any}
 */
function inlineNode(part) {
  switch (part.kind) {
    case "text":
      return part.text;
    case "code":
      return html`<code>${part.text}</code>`;
    case "break":
      return html`<br />`;
    case "image":
      return html`<img src=${part.src} alt=${part.alt} loading="lazy" />`;
    case "link":
      return linkNode(part.href, part.children.map(inlineNode));
    default:
      return html`<${part.kind}>${part.children.map(inlineNode)}</>`;
  }
}

/**
 * Other sites, and files, open beside the app.
 * @param {string} href
 * @param {any[]} children
 */
function linkNode(href, children) {
  const leaves = /^(?:[a-z]+:|\/files\/)/i.test(href);
  return leaves ? html`<a href=${href} target="_blank" rel="noopener noreferrer">${children}</a>` : html`<a href=${href}>${children}</a>`;
}
