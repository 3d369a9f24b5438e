// @ts-check
/**
 * The editor: Squire in a block of the page, with our keys. All HTML that enters it is cleaned.
 *
 * It is loaded on first use, by load_richtext.js: with Squire and the filter it is a tenth of the app. Owns one Squire.
 * Of mail it knows only the block that holds the signature.
 */
import Squire from "squire-rte";
import { filesIn } from "./ahead.js";
import { caretIn } from "./caret.js";
import { MAX_HTML_CHARS, clean } from "./clean.js";
import { beginLine, clearFormats, formatsOf, toggleFormat } from "./formatting.js";
import { CURSOR, fieldsIn } from "../snippets/fields.js";
import { CUT, MAX_TEXT_CHARS } from "./long_text.js";
import { FITTING_PX, describing, forServer, pictureAddress } from "./pictures.js";
import { SIGNATURE } from "./signature.js";

/** A long text has fewer undo steps: each holds the whole text. */
const UNDO = { documentSizeThreshold: 50_000, undoLimit: 30 };
const MAC = /Mac|iP(?:hone|ad|od)/.test(navigator.platform);

/** @type {Record<string, Format>} */
const KEYS = { "Mod-Shift-7": "numbers", "Mod-Shift-8": "bullets", "Mod-Shift-9": "quotation", "Mod-e": "code",
  "Alt-Mod-1": "heading", "Alt-Mod-2": "subheading" };

/** @typedef {import("./formatting.js").Format} Format */
/** @typedef {{ start: number[], end: number[] }} Caret the path to each end: indices of nodes, then the offset */
/**
 * @typedef {object} Heard
 * @property {(html: string) => void} changed
 * @property {(formats: ReadonlySet<Format>) => void} formats
 * @property {(files: File[], place: Range) => void} files pasted files, and their place
 * @property {(fileId: string) => boolean} [isOurs] whether a picture's file is the message's
 * @property {(picture: HTMLImageElement) => void} [picture] a picture was pressed
 * @property {() => void} link Ctrl+K
 * @property {() => void} [snippets] Ctrl+;
 * @property {() => void} [moved] the caret, or the text before it, has changed
 * @property {(event: KeyboardEvent) => boolean} [press] whether another component handles the key
 * @property {() => string[]} [fields] the fields that Tab goes to
 * @property {(words: string) => void} said a message for the person about a paste
 */

export class RichText {
  /**
   * @param {HTMLElement} root
   * @param {string} html
   * @param {Heard} heard
   */
  constructor(root, html, heard) {
    this.root = root;
    this.heard = heard;
    root.addEventListener("keydown", (event) => this.#onKeyDown(event), { capture: true });
    root.addEventListener("paste", (event) => this.#onPaste(event), { capture: true });
    this.squire = new Squire(root, { undo: UNDO, sanitizeToDOMFragment: (given) => clean(given, heard.isOurs),
      didError: (error) => console.error(error) });
    root.dispatchEvent(new FocusEvent("focus")); // if it has the focus already, Squire must know
    this.squire.setHTML(html);
    this.#setKeys();
    // Squire's own resize handles use inline styles, which our policy forbids: so it must not see the click.
    root.addEventListener("click", (event) => {
      if (!(event.target instanceof HTMLImageElement)) return;
      event.stopPropagation();
      heard.picture?.(event.target);
    });
    this.squire.addEventListener("input", () => {
      this.showNewLine();
      heard.changed(this.html());
    });
    for (const moment of ["pathChange", "select", "cursor", "input"]) {
      this.squire.addEventListener(moment, () => {
        heard.formats(formatsOf(this.squire));
        heard.moved?.();
      });
    }
  }

  html() {
    return forServer(this.squire.getHTML());
  }

  /** Replaces the whole content, without an undo step. @param {string} html */
  reset(html) {
    this.squire.setHTML(html);
  }

  focus() {
    this.squire.focus();
  }

  /** Puts the caret where writing begins: above the signature and the quote. */
  focusStart() {
    this.squire.moveCursorToStart();
    this.squire.focus();
  }

  /** Puts the caret behind what was typed before the editor had loaded; the focus stays. @param {number} blocks */
  goOnAfter(blocks) {
    const last = this.root.children[blocks - 1];
    if (!last) return;
    const range = document.createRange();
    range.selectNodeContents(last);
    range.collapse(false);
    this.squire.setSelection(range);
  }

  /** Browsers scroll to the caret as one types, but not when a script begins the new line for them. */
  showNewLine() {
    const { startContainer, startOffset } = this.squire.getSelection();
    if (startOffset) return;
    const line = startContainer instanceof Element ? startContainer : startContainer.parentElement;
    line?.scrollIntoView({ block: "nearest" });
  }

  /** The position of the caret or the selection, to restore it in another editor with the same text. */
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

  /** @param {Format} format */
  toggle(format) {
    if (format === "link") this.heard.link();
    else toggleFormat(this.squire, format);
    this.squire.focus();
  }

  clear() {
    clearFormats(this.squire);
    this.squire.focus();
  }

  undo() {
    this.squire.undo();
  }

  redo() {
    this.squire.redo();
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

  chooseSnippet() {
    this.heard.snippets?.();
  }

  /** The text before the caret in its text node; empty while something is selected. */
  textBefore() {
    const caret = caretIn(this.squire.getSelection());
    return caret ? caret.text.data.slice(0, caret.offset) : "";
  }

  /** The caret's position on the screen. */
  caretBox() {
    return this.squire.getSelection().getClientRects()[0] ?? null;
  }

  /**
   * Replaces the last `typed` letters before the caret by HTML, as one undo step. `change` maps each text of the HTML.
   * The caret goes to its {cursor}, else to its first unfilled field.
   * @param {string} html
   * @param {{ typed: number, change: (text: string) => string }} how
   */
  insertText(html, { typed, change }) {
    const range = this.squire.getSelection();
    const caret = typed ? caretIn(range) : null;
    if (caret) range.setStart(caret.text, caret.offset - typed);
    this.squire.setSelection(range);
    const holder = document.createElement("div");
    holder.append(clean(html));
    for (const text of textsOf(holder)) text.data = change(text.data);
    const first = fieldsIn([holder.textContent ?? ""])[0];
    this.squire.insertHTML(holder.innerHTML);
    const cursors = found(this.root, [CURSOR]);
    for (const place of cursors.toReversed()) cutOut(place);
    const next = cursors[0] ?? (first === undefined ? null : found(this.root, [first])[0]);
    if (next) this.squire.setSelection(next);
    this.squire.focus();
    queueMicrotask(() => this.squire.saveUndoState()); // text typed after it is a separate undo step
  }

  /**
   * Selects the next of these fields, or the previous one (`back`). Forward from a caret behind the last field, it
   * selects the first; but if a field is selected and none follows, it selects none, so that Tab leaves the text.
   * Returns whether it selected one.
   * @param {string[]} fields
   * @param {boolean} back
   */
  toField(fields, back) {
    const here = this.squire.getSelection();
    const places = found(this.root, fields);
    const next = back
      ? places.findLast((one) => one.compareBoundaryPoints(Range.START_TO_END, here) <= 0)
      : places.find((one) => one.compareBoundaryPoints(Range.END_TO_START, here) >= 0)
        ?? (fields.includes(here.toString()) ? undefined : places[0]);
    if (next) this.squire.setSelection(next);
    return next !== undefined;
  }

  /**
   * Inserts a picture at a place, which moves with the text around it, or at the caret. The caret stays at its place.
   * @param {{ id: string, name: string }} file
   * @param {Range} [place]
   */
  insertPicture({ id, name }, place) {
    const { squire } = this;
    const here = squire.getSelection().cloneRange();
    const there = place && this.root.contains(place.commonAncestorContainer) ? place : here;
    there.collapse(false);
    const atCaret = here.collapsed && here.compareBoundaryPoints(Range.START_TO_START, there) === 0;
    squire.saveUndoState();
    squire.setSelection(there);
    const picture = squire.insertImage(pictureAddress(id), { alt: describing(name) });
    picture.addEventListener("load", () => {
      if (picture.naturalWidth > FITTING_PX) picture.setAttribute("width", String(FITTING_PX));
    }, { once: true });
    there.setStartAfter(picture);
    there.collapse(true);
    squire.setSelection(atCaret ? there : here);
  }

  /** The selected picture, or the one right before the caret. */
  pictureHere() {
    const { startContainer, startOffset, endContainer, endOffset } = this.squire.getSelection();
    const near = [startContainer.childNodes[startOffset], endContainer.childNodes[endOffset - 1],
      startOffset === 0 ? startContainer.previousSibling : null];
    return near.find((one) => one instanceof HTMLImageElement) ?? null;
  }

  /** @param {HTMLImageElement} picture @param {(picture: HTMLImageElement) => void} change */
  changePicture(picture, change) {
    this.squire.saveUndoState();
    change(picture);
  }

  /** The place of a drop. @param {DragEvent} event */
  placeOf(event) {
    const at = document.caretPositionFromPoint?.(event.clientX, event.clientY);
    if (!at || !this.root.contains(at.offsetNode)) return undefined;
    const range = document.createRange();
    range.setStart(at.offsetNode, at.offset);
    return range;
  }

  /** Replaces the signature, or adds one below. This is not reported as a change. @param {string} html */
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
      if (event.getModifierState("AltGraph")) return; // it types a character
      event.preventDefault();
      event.stopPropagation();
      run();
    };
    const keys = /** @type {Record<string, () => void>} */ ({
      k: () => this.heard.link(), "\\": () => this.clear(), ";": () => this.heard.snippets?.(),
    });
    for (const [key, run] of Object.entries(keys)) this.squire.setKeyHandler(main + key, press(run));
    for (const [key, format] of Object.entries(KEYS)) {
      this.squire.setKeyHandler(key.replace("Mod-", main), press(() => this.toggle(format)));
    }
    for (const unused of ["Shift-5", "Shift-6", "u", "d"]) this.squire.setKeyHandler(main + unused, null);
    // Page keys scroll, and Tab leaves the text, in lists, too; Ctrl+] and Ctrl+[ indent and outdent an item.
    for (const unused of ["PageUp", "PageDown", "Tab", "Shift-Tab"]) this.squire.setKeyHandler(unused, null);
  }

  /** Handles keys before Squire and the page do. @param {KeyboardEvent} event */
  #onKeyDown(event) {
    if (event.isComposing) return;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    const done = this.heard.press?.(event)
      || (plain && event.key === "Tab" && this.toField(this.heard.fields?.() ?? [], event.shiftKey))
      || (plain && event.key === " " && beginLine(this.squire));
    if (done) this.#instead(event, () => undefined);
  }

  /** Attaches pasted files; HTML that is too long is inserted as text. @param {ClipboardEvent} event */
  #onPaste(event) {
    const pasted = event.clipboardData;
    if (!pasted) return;
    const text = pasted.getData("text/plain");
    const files = filesIn(event);
    if (files.length) {
      const place = this.squire.getSelection().cloneRange();
      this.#instead(event, () => this.heard.files(files, place));
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
    this.heard.said(cut ? CUT : "That is very long: it was pasted as plain text.");
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

/**
 * Deletes words. Between two spaces, or after the last one, it keeps each space visible.
 * @param {Range} place in one run of text
 */
function cutOut(place) {
  place.deleteContents();
  const { startContainer: text, startOffset: at } = place;
  if (!(text instanceof Text)) return;
  if (text.data.slice(at - 1, at + 1) === "  ") text.replaceData(at, 1, "\u00a0");
  else if (at === text.length && text.data.endsWith(" ")) {
    text.replaceData(at - 1, 1, "\u00a0");
    place.setStart(text, at);
    place.collapse(true);
  }
}

/** @param {Node} root */
function textsOf(root) {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts = /** @type {Text[]} */ ([]);
  while (walker.nextNode()) texts.push(/** @type {Text} */ (walker.currentNode));
  return texts;
}

/** Finds the places of these words, in the order of the text. @param {Node} root @param {string[]} words */
function found(root, words) {
  return textsOf(root).flatMap((text) => words
    .flatMap((word) => [...text.data.matchAll(new RegExp(word.replace(/[{}]/g, "\\$&"), "g"))])
    .sort((left, right) => left.index - right.index)
    .map(({ index, 0: { length } }) => {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + length);
      return range;
    }));
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

/**
 * The node and offset of such a path, or the nearest place in the current text.
 * @param {Node} root @param {number[]} path
 * @returns {[Node, number]}
 */
function placeAt(root, path) {
  let node = root;
  for (const index of path.slice(0, -1)) node = node.childNodes[index] ?? node;
  const most = node instanceof Text ? node.length : node.childNodes.length;
  return [node, Math.min(path.at(-1) ?? 0, most)];
}
