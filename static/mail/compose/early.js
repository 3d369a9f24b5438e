// @ts-check
/** What a person types before the editor has loaded: the block takes plain text until then, and none of it is lost. */
import { useState } from "preact/hooks";

/**
 * The text of a block whose editor has not loaded.
 * @param {{ current: HTMLElement | null }} root
 * @param {string} start what the editor begins with, below what is typed
 */
export function useEarly(root, start) {
  const [early] = useState(() => new Early(root));
  early.startWith(start);
  return early;
}

class Early {
  #root;
  /** Null: nothing was typed yet. @type {string | null} */
  #typed = null;
  #start = "";
  #composing = false;
  /** @type {(() => void) | null} */
  #next = null;

  /** @param {{ current: HTMLElement | null }} root */
  constructor(root) {
    this.#root = root;
  }

  /**
   * After the first typed letter, a value that is set from outside contains the typed text, too.
   * @param {string} start
   */
  startWith(start) {
    if (this.#typed === null) this.#start = start;
  }

  /** Reads what was typed, at each input: the block may be hidden later, and then its lines can't be told apart. */
  read() {
    if (this.#root.current) this.#typed = blocks(this.#root.current.innerText);
  }

  /** Replaces the selection in the block by the text. @param {string} text */
  put(text) {
    const selection = getSelection();
    if (!selection?.rangeCount || !this.#root.current?.contains(selection.anchorNode)) return;
    const place = selection.getRangeAt(0);
    place.deleteContents();
    place.insertNode(document.createTextNode(text));
    place.collapse(false);
  }

  html() {
    return (this.#typed ?? "") + this.#start;
  }

  /** How many blocks were typed. */
  get blocks() {
    return (this.#typed ?? "").split("</div>").length - 1;
  }

  /** Runs it when no input method composes a word: to replace the text would break it. @param {() => void} run */
  atRest(run) {
    if (this.#composing) this.#next = run;
    else run();
  }

  /** The listeners that atRest() needs. Preact would not change capital letters in these names. */
  composing = {
    oncompositionstart: () => {
      this.#composing = true;
    },
    oncompositionend: () => {
      this.#composing = false;
      setTimeout(() => { // some browsers report the input only after this
        const next = this.#next;
        this.#next = null;
        if (next) this.atRest(next);
      });
    },
  };
}

/** The typed lines as blocks of the editor; "" if there are none. @param {string} typed */
function blocks(typed) {
  if (!typed.trim()) return "";
  const block = document.createElement("div");
  return typed.replace(/\n$/, "").split("\n").map((line) => {
    block.textContent = line.replace(/ (?= |$)/g, "\u00a0"); // HTML joins spaces, and drops the last
    return `<div>${block.innerHTML || "<br>"}</div>`;
  }).join("");
}
