// @ts-check
/**
 * Draws one terminal with xterm.js, which is loaded with the first terminal. It has the app's colours, and works under
 * the app's content security policy.
 *
 * Owns the library's object: keys, copying, links, search and size. It knows nothing of the socket.
 */
import { withAdoptedStyles } from "./adopted.js";
import { foundColours, onColours, terminalTheme } from "./colours.js";

/** The files of xterm.js are loaded by address and never bundled. This file is one folder deep, bundled or not. */
const LIBRARY = new URL("../vendor/xterm/", import.meta.url).href;
const SCROLLBACK_LINES = 5_000;
const FONT_PX = 13;
const ARROWS = { up: "A", down: "B", right: "C", left: "D" };

/** @typedef {import("@xterm/xterm").Terminal} Xterm */
/** @typedef {keyof typeof ARROWS} Arrow */
/**
 * @typedef {object} Wants
 * @property {(data: Uint8Array) => void} typed
 * @property {(size: { cols: number, rows: number }) => void} resized
 * @property {(title: string) => void} titled
 * @property {() => void} search called when the person wants to search
 * @property {(found: { at: number, of: number }) => void} found
 */

let stylesLinked = false;

/**
 * Loads xterm.js, its addons and its styles, once for all screens.
 * @returns {Promise<typeof import("@xterm/xterm") & typeof import("@xterm/addon-fit")
 *   & typeof import("@xterm/addon-search") & typeof import("@xterm/addon-web-links")>}
 */
export async function loadLibrary() {
  if (!stylesLinked) {
    stylesLinked = true;
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = `${LIBRARY}xterm.css`;
    await new Promise((resolve) => {
      link.onload = link.onerror = resolve;
      document.head.append(link);
    });
  }
  const parts = await Promise.all(["xterm", "addon-fit", "addon-search", "addon-web-links"].map((name) =>
    import(`${LIBRARY}${name}.mjs`)));
  return Object.assign({}, ...parts);
}

export class Screen {
  /** @type {Xterm} */
  #xterm;
  #fit;
  #search;
  #ends;
  /** How many of the next bytes to draw are old output, which is drawn again. */
  #old = 0;

  /**
   * @param {Awaited<ReturnType<typeof loadLibrary>>} library
   * @param {HTMLElement} element must be visible
   * @param {Wants} wants
   */
  constructor(library, element, wants) {
    const style = getComputedStyle(element);
    const xterm = new library.Terminal({
      allowProposedApi: true, // the search needs it to mark matches
      cursorBlink: true,
      fontFamily: style.fontFamily,
      fontSize: FONT_PX,
      linkHandler: { activate: (_, address) => openLink(address) },
      macOptionIsMeta: true,
      minimumContrastRatio: 4.5,
      scrollback: SCROLLBACK_LINES,
      theme: terminalTheme(),
    });
    this.#xterm = xterm;
    this.#fit = new library.FitAddon();
    this.#search = new library.SearchAddon();
    xterm.loadAddon(this.#fit);
    xterm.loadAddon(this.#search);
    xterm.loadAddon(new library.WebLinksAddon((_, address) => openLink(address)));
    withAdoptedStyles(() => xterm.open(element));
    this.#fit.fit();
    const encoder = new TextEncoder();
    // Old output may hold a program's queries to the terminal. They were answered then, and are not answered again.
    xterm.onData((data) => this.#old === 0 && wants.typed(encoder.encode(data)));
    xterm.onBinary((data) => this.#old === 0 && wants.typed(Uint8Array.from(data, (one) => one.charCodeAt(0))));
    xterm.onResize(wants.resized);
    xterm.onTitleChange(wants.titled);
    this.#search.onDidChangeResults(({ resultIndex, resultCount }) =>
      wants.found({ at: resultIndex + 1, of: resultCount }));
    xterm.attachCustomKeyEventHandler((event) => this.#takes(event, wants));
    const observer = new ResizeObserver(() => this.fit());
    observer.observe(element);
    const endColours = onColours(() => {
      xterm.options.theme = terminalTheme();
    });
    this.#ends = () => {
      observer.disconnect();
      endColours();
      xterm.dispose();
    };
  }

  get size() {
    return { cols: this.#xterm.cols, rows: this.#xterm.rows };
  }

  /** Adapts the size to the room that the element has. */
  fit() {
    this.#fit.fit();
  }

  /** Begins an empty screen. The first `old` bytes to be drawn are old output. @param {number} old */
  begin(old) {
    this.#xterm.reset();
    this.#old = old;
  }

  /** @param {Uint8Array} data @param {() => void} drawn */
  draw(data, drawn) {
    this.#xterm.write(data, () => {
      this.#old = Math.max(0, this.#old - data.length);
      drawn();
    });
  }

  focus() {
    this.#xterm.focus();
  }

  /** Acts as if a key were pressed. @param {string} data */
  press(data) {
    this.#xterm.input(data);
    this.focus();
  }

  /** @param {Arrow} where */
  arrow(where) {
    this.press(`\x1b${this.#xterm.modes.applicationCursorKeysMode ? "O" : "["}${ARROWS[where]}`);
  }

  /** @param {string} text */
  paste(text) {
    this.#xterm.paste(text);
    this.focus();
  }

  /** The selected text. */
  get selection() {
    return this.#xterm.getSelection();
  }

  /** @param {string} words @param {"next" | "previous"} way @param {boolean} [incremental] */
  find(words, way, incremental = false) {
    if (!words) {
      this.#search.clearDecorations();
      return;
    }
    const options = { decorations: foundColours(), incremental };
    if (way === "next") this.#search.findNext(words, options);
    else this.#search.findPrevious(words, options);
  }

  endSearch() {
    this.#search.clearDecorations();
    this.#xterm.clearSelection();
    this.focus();
  }

  dispose() {
    this.#ends();
  }

  /** Whether xterm.js handles a key. @param {KeyboardEvent} event @param {Wants} wants */
  #takes(event, wants) {
    if (event.type !== "keydown" || event.altKey || !event.shiftKey || !(event.ctrlKey || event.metaKey)) return true;
    const key = event.key.toLowerCase();
    if (key === "f") wants.search();
    else if (key === "c" && this.selection) void navigator.clipboard?.writeText(this.selection);
    else if (key !== "c") return key !== "v"; // the browser pastes
    event.preventDefault();
    return false;
  }
}

/** @param {string} address */
function openLink(address) {
  if (/^https?:\/\//i.test(address)) window.open(address, "_blank", "noopener,noreferrer");
}
