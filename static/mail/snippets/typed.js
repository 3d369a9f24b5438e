// @ts-check
/**
 * Snippets by typing: `;name` at the start of a word suggests the snippets whose names begin like that, at the caret.
 * Enter or Tab takes the marked one, Escape keeps the letters.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../../ui/html.js";
import { wordsOf } from "./menu.js";
import { snippets, wantSnippets } from "./store.js";

const TYPED = /(?:^|[\s([{"'“„«])(;(?:[\p{L}\p{N}][\p{L}\p{N}_-]*)?)$/u;
const MOST_SHOWN = 6;

/** @typedef {import("./store.js").Snippet} Snippet */
/** @typedef {import("../compose/richtext.js").RichText} RichText */

/**
 * Follows the typed name in an editor that accepts snippets. `heard` has to be called whenever the text or the caret
 * changes; `press` with each key: it returns whether the list used the key.
 * @param {{ current: RichText | null }} editor
 * @param {(snippet: Snippet, typed: number) => void} choose
 */
export function useTypedName(editor, choose) {
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const dropped = useRef("");
  const found = matching(typed);
  const open = found.length > 0;
  useEffect(() => setAt(0), [typed]);
  useEffect(() => {
    if (typed) void wantSnippets().catch(() => undefined); // then there are none to offer
  }, [typed]);
  useEffect(() => {
    const root = editor.current?.root;
    if (open) root?.setAttribute("aria-activedescendant", `typed-snippet-${at}`);
    else root?.removeAttribute("aria-activedescendant");
  }, [open, at]);
  const heard = () => {
    const word = TYPED.exec(editor.current?.textBefore() ?? "")?.[1] ?? "";
    if (word !== dropped.current) dropped.current = "";
    setTyped(word === dropped.current ? "" : word);
  };
  const take = (/** @type {Snippet | undefined} */ snippet) => {
    setTyped("");
    if (snippet) choose(snippet, typed.length);
  };
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (!open || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) setAt((at + step + found.length) % found.length);
    else if ((event.key === "Enter" || event.key === "Tab") && !event.shiftKey) take(found[at]);
    else if (event.key === "Escape") {
      dropped.current = typed;
      setTyped("");
    } else return false;
    return true;
  };
  return { found, at, take, heard, press };
}

/** @param {{ editor: { current: RichText | null }, typed: ReturnType<typeof useTypedName> }} props */
export function TypedNames({ editor, typed: { found, at, take } }) {
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  useLayoutEffect(() => {
    if (list.current && editor.current) place(list.current, editor.current);
  });
  return html`<ul class="typed-snippets" ref=${list} role="listbox" aria-label="Snippets" hidden=${!found.length}>
    ${found.map((one, index) => html`<li key=${one.id} id=${`typed-snippet-${index}`} role="option"
      aria-selected=${index === at ? "true" : "false"}
      onMouseDown=${(/** @type {Event} */ event) => { event.preventDefault(); take(one); }}>
      <span class="snippet-name"><bdi>${one.name}</bdi></span>
      <span class="snippet-words"><bdi>${wordsOf(one)}</bdi></span></li>`)}
  </ul><p class="sr-only" role="status">${found.length ? `${found.length} snippets. Arrow keys, Enter takes one.` : ""}
  </p>`;
}

/** @param {string} typed with its semicolon */
function matching(typed) {
  if (!typed) return [];
  const wanted = typed.slice(1).toLocaleLowerCase();
  return (snippets.value ?? []).filter(({ name }) => name.toLocaleLowerCase().startsWith(wanted)).slice(0, MOST_SHOWN);
}

/** Below the caret, or above it where there is no room. @param {HTMLElement} list @param {RichText} editor */
function place(list, editor) {
  const frame = list.offsetParent?.getBoundingClientRect();
  const caret = editor.caretBox();
  if (!frame || !caret) return;
  const room = innerHeight - caret.bottom > list.offsetHeight;
  list.style.top = `${room ? caret.bottom - frame.top + 4 : caret.top - frame.top - list.offsetHeight - 4}px`;
  list.style.left = `${Math.max(8, Math.min(caret.left - frame.left, frame.width - list.offsetWidth - 8))}px`;
}
