// @ts-check
/**
 * The editor: Squire in a block of the page, loaded when first needed, with our keys and everything cleaned that comes
 * in.
 *
 * Owns one Squire. It knows nothing of mail but the block that holds the signature.
 */
import { MAX_HTML_CHARS, MAX_TEXT_CHARS, clean } from "./clean.js";
import { SIGNATURE } from "./signature.js";

/** A long text is kept in fewer steps back: each holds all of it. */
const UNDO = { documentSizeThreshold: 50_000, undoLimit: 30 };
const MAC = /Mac|iP(?:hone|ad|od)/.test(navigator.platform);

/** @typedef {"bold" | "italic" | "bullets" | "numbers" | "link"} Format */
/** @typedef {Record<Format, boolean>} Formats */
/** @typedef {{ start: number[], end: number[] }} Caret the way to each end: indices of nodes, then the offset */
/**
 * @typedef {object} Heard
 * @property {(html: string) => void} changed
 * @property {(formats: Formats) => void} formats
 * @property {(files: File[]) => void} files that were pasted
 * @property {() => void} link Ctrl+K
 * @property {(words: string) => void} said what the person should know of a paste
 */

/** @type {Promise<typeof import("squire-rte").default> | null} */
let loading = null;

/** A failed fetch is tried again the next time. */
export function loadSquire() {
  loading ??= import("squire-rte").then(
    (module) => module.default,
    (error) => {
      loading = null;
      throw error;
    },
  );
  return loading;
}

export class RichText {
  /**
   * @param {typeof import("squire-rte").default} Squire
   * @param {HTMLElement} root
   * @param {string} html
   * @param {Heard} heard
   */
  constructor(Squire, root, html, heard) {
    this.root = root;
    this.heard = heard;
    root.addEventListener("paste", (event) => this.#onPaste(event), { capture: true });
    this.squire = new Squire(root, { undo: UNDO, sanitizeToDOMFragment: clean, didError: (error) => console.error(error)
      });
    this.squire.setHTML(html);
    this.#setKeys();
    this.squire.addEventListener("input", () => heard.changed(this.html()));
    for (const moment of ["pathChange", "select", "cursor", "input"]) {
      this.squire.addEventListener(moment, () => heard.formats(this.formats()));
    }
  }

  html() {
    return this.squire.getHTML();
  }

  /** Replace all of it, without a step back. @param {string} html */
  reset(html) {
    this.squire.setHTML(html);
  }

  focus() {
    this.squire.focus();
  }

  /** Where writing begins: above the signature and the quote. */
  focusStart() {
    this.squire.moveCursorToStart();
    this.squire.focus();
  }

  /** Where the caret or the selection is, so that it is found again in another editor of the same text. */
  caret() {
    const { startContainer, startOffset, endContainer, endOffset } = this.squire.getSelection();
    return { start: [...pathTo(this.root, startContainer), startOffset],
      end: [...pathTo(this.root, endContainer), endOffset] };
  }

  /** @param {Caret} caret */
  placeCaret({ start, end }) {
    const range = document.createRange();
    range.setStart(...placeAt(this.root, start));
    range.setEnd(...placeAt(this.root, end));
    this.squire.focus();
    this.squire.setSelection(range);
  }

  destroy() {
    this.squire.destroy();
  }

  /** @returns {Formats} */
  formats() {
    const has = (/** @type {string} */ tag) => this.squire.hasFormat(tag);
    return { bold: has("B") || has("STRONG"), italic: has("I") || has("EM"), bullets: has("UL"), numbers: has("OL"),
      link: has("A") };
  }

  /** @param {Exclude<Format, "link">} format */
  toggle(format) {
    const { squire } = this;
    const on = this.formats();
    if (format === "bold") on.bold ? squire.removeBold() : squire.bold();
    else if (format === "italic") on.italic ? squire.removeItalic() : squire.italic();
    else if (format === "bullets") on.bullets ? squire.removeList() : squire.makeUnorderedList();
    else on.numbers ? squire.removeList() : squire.makeOrderedList();
    squire.focus();
  }

  /** The address of the link that the caret is in. */
  linkHere() {
    const node = this.squire.getSelection().startContainer;
    const element = node instanceof Element ? node : node.parentElement;
    return element?.closest("a")?.getAttribute("href") ?? "";
  }

  /** @param {string} address */
  link(address) {
    this.squire.focus();
    this.squire.makeLink(address);
  }

  unlink() {
    this.squire.focus();
    this.squire.removeLink();
  }

  /**
   * Put a signature in the place of the one that is there, or below. Nobody is told of it as of a change.
   * @param {string} html
   */
  setSignature(html) {
    const old = this.root.querySelector(SIGNATURE);
    this.squire.saveUndoState();
    this.squire.modifyDocument(() => {
      const block = document.createElement("div");
      block.setAttribute("data-signature", "1");
      block.append(clean(html));
      if (!html) old?.remove();
      else if (old) old.replaceWith(block);
      else this.root.append(room(), block);
      if (!this.root.firstChild) this.root.append(room());
    });
  }

  #setKeys() {
    const main = MAC ? "Meta-" : "Ctrl-";
    const press = (/** @type {() => void} */ run) => (/** @type {unknown} */ _, /** @type {KeyboardEvent} */ event) => {
      event.preventDefault();
      event.stopPropagation();
      run();
    };
    this.squire.setKeyHandler(`${main}k`, press(() => this.heard.link()));
    this.squire.setKeyHandler(`${main}Shift-7`, press(() => this.toggle("numbers")));
    this.squire.setKeyHandler(`${main}Shift-8`, press(() => this.toggle("bullets")));
    for (const unused of ["Shift-9", "Shift-5", "Shift-6", "u", "d"]) this.squire.setKeyHandler(main + unused, null);
    // Page keys scroll, and Tab leaves the text in lists, too; Ctrl+] and Ctrl+[ move an item in and out.
    for (const unused of ["PageUp", "PageDown", "Tab", "Shift-Tab"]) this.squire.setKeyHandler(unused, null);
  }

  /** Files are attached; what is too long to be laid out comes as text. @param {ClipboardEvent} event */
  #onPaste(event) {
    const pasted = event.clipboardData;
    if (!pasted) return;
    const text = pasted.getData("text/plain");
    if (pasted.files.length && !text) {
      // An office copies text as a picture, too; then there is a text.
      this.#instead(event, () => this.heard.files([...pasted.files]));
    } else if (pasted.getData("text/html").length > MAX_HTML_CHARS || text.length > MAX_TEXT_CHARS) {
      this.#instead(event, () => this.#pasteLong(text));
    }
  }

  /** @param {string} text */
  #pasteLong(text) {
    const cut = text.length > MAX_TEXT_CHARS;
    const block = document.createElement("pre");
    block.textContent = text.slice(0, MAX_TEXT_CHARS);
    this.squire.insertElement(block);
    this.heard.changed(this.html());
    this.heard.said(cut
      ? "That is very long: the first 400,000 letters were pasted, as plain text. A file may serve better."
      : "That is very long: it was pasted as plain text.");
  }

  /**
   * @param {Event} event
   * @param {() => void} run
   */
  #instead(event, run) {
    event.preventDefault();
    event.stopImmediatePropagation();
    run();
  }
}

function room() {
  const block = document.createElement("div");
  block.append(document.createElement("br"));
  return block;
}

/** The indices that lead to a node below the root. @param {Node} root @param {Node} node */
function pathTo(root, node) {
  const path = [];
  for (let at = /** @type {Node | null} */ (node); at && at !== root; at = at.parentNode) {
    path.unshift(at.parentNode ? [...at.parentNode.childNodes].indexOf(/** @type {ChildNode} */ (at)) : 0);
  }
  return path;
}

/** Where such a path leads, or as near as the text of now has it. @param {Node} root @param {number[]} path
 * @returns {[Node, number]} */
function placeAt(root, path) {
  let node = root;
  for (const index of path.slice(0, -1)) node = node.childNodes[index] ?? node;
  const most = node instanceof Text ? node.length : node.childNodes.length;
  return [node, Math.min(path.at(-1) ?? 0, most)];
}
