// @ts-check
/** The editor with its toolbar below, also in the settings. */
import { useEffect, useRef, useState } from "preact/hooks";
import { liveState } from "../../live.js";
import { html } from "../../ui/html.js";
import { SnippetMenu } from "../snippets/menu.js";
import { freeFields } from "../snippets/putting.js";
import { wantSnippets } from "../snippets/store.js";
import { TypedNames, useTypedName } from "../snippets/typed.js";
import { filesIn } from "./ahead.js";
import { useEarly } from "./early.js";
import { LinkForm } from "./link_form.js";
import { loadRichText } from "./load_richtext.js";
import { CUT, MAX_TEXT_CHARS } from "./long_text.js";
import { PictureForm } from "./picture_form.js";
import { Toolbar } from "./toolbar.js";

/** @typedef {import("./formatting.js").Format} Format */
/** @typedef {import("./richtext.js").RichText} RichText */
/**
 * @typedef {object} Snippeting
 * @property {(snippet: import("../snippets/store.js").Snippet, typed: number) => void} put inserts the
 *   snippet in place of the `typed` letters before the caret
 * @property {() => import("./wire.js").Fields} fields of the mail, to make a snippet from it
 */
/**
 * @typedef {object} EditorProps
 * @property {string} start the initial HTML; values that come after the first typed letter are ignored
 * @property {string} label
 * @property {(html: string) => void} changed
 * @property {(files: File[], place?: Range) => void} [files]
 * @property {(fileId: string) => boolean} [isOurs] whether a picture's file is the message's
 * @property {(words: string) => void} [said]
 * @property {(editor: RichText | null) => void} ready
 * @property {(editor: RichText) => void} [begun] the caret stands where writing goes on
 * @property {Snippeting} [snippets] if the editor accepts them
 * @property {unknown} [children] below the text, in the same scrolled column
 */

/** @param {EditorProps} props */
export function Editor({ start, label, changed, files, isOurs, said, snippets, ready, begun, children }) {
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  const editor = useRef(/** @type {RichText | null} */ (null));
  const typed = useTypedName(editor, (snippet, length) => snippets?.put(snippet, length));
  const heard = useRef({ changed, files, said, typed });
  heard.current = { changed, files, said, typed };
  const [formats, setFormats] = useState(/** @type {ReadonlySet<Format>} */ (new Set()));
  const [below, setBelow] = useState(/** @type {"" | "link" | "snippets" | "picture"} */ (""));
  const [picture, setPicture] = useState(/** @type {HTMLImageElement | null} */ (null));
  const { problem, again, attempt } = useAttempts();
  const early = useEarly(root, start);
  const bottom = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (below) bottom.current?.scrollIntoView({ block: "nearest" });
  }, [below]);
  const live = liveState.value === "live";
  useEffect(() => {
    if (problem && live) again();
  }, [live]);
  useEffect(() => {
    let current = true;
    loadRichText().then(
      (RichText) => early.atRest(() => {
        if (!current || !root.current) return;
        editor.current = new RichText(root.current, early.html(), {
          changed: (text) => heard.current.changed(text),
          files: (given, place) => heard.current.files?.(given, place),
          ...(isOurs && { isOurs, picture: (one) => { setPicture(one); setBelow("picture"); } }),
          said: (words) => heard.current.said?.(words),
          formats: (now) => setFormats((before) => (same(before, now) ? before : now)),
          link: () => setBelow("link"),
          ...(snippets && {
            snippets: () => setBelow("snippets"),
            moved: () => heard.current.typed.heard(),
            press: (event) => heard.current.typed.press(event),
            fields: freeFields,
          }),
        });
        if (snippets) void wantSnippets().catch(() => undefined); // the menu shows the error
        ready(editor.current);
        editor.current.goOnAfter(early.blocks);
        begun?.(editor.current);
      }),
      () => current && again(),
    );
    return () => {
      current = false;
      editor.current?.destroy();
      editor.current = null;
      ready(null);
    };
  }, [attempt]);
  const onInput = () => {
    if (editor.current) return;
    early.read();
    changed(early.html());
  };
  const onPaste = (/** @type {ClipboardEvent} */ event) => {
    if (editor.current) return;
    const given = files ? filesIn(event) : [];
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (given.length) {
      event.preventDefault();
      files?.(given);
    } else if (text.length > MAX_TEXT_CHARS) {
      event.preventDefault();
      early.put(text.slice(0, MAX_TEXT_CHARS));
      onInput();
      said?.(CUT);
    }
  };
  const close = () => {
    setBelow("");
    editor.current?.focus();
  };
  const pictures = (/** @type {File[]} */ given) => files?.(given);
  const toggle = (/** @type {"link" | "snippets"} */ name) => () => setBelow(below === name ? "" : name);
  return html`<div class="editor-rich">
    <div class="rich-scroll" onMouseDown=${(/** @type {MouseEvent} */ event) => focusBelow(event, editor.current
      ?? root.current)}>
      <div class="rich-text" ref=${root} role="textbox" tabindex="0" aria-multiline="true" aria-label=${label}
        contenteditable="plaintext-only" onInput=${onInput} onPaste=${onPaste} ...${early.composing}
        spellcheck=${true} lang=${navigator.language} dir="auto"></div>
      ${problem && html`<p class="form-problem" role="alert">The editor could not be loaded. <button type="button"
        class="link" onClick=${again}>Try again</button></p>`}
      ${children}
    </div>
    ${snippets && html`<${TypedNames} editor=${editor} typed=${typed} />`}
    <div class="editor-below" ref=${bottom}>
      ${below === "link" && html`<${LinkForm} editor=${editor.current} done=${close} />`}
      ${below === "picture" && picture && editor.current && html`<${PictureForm} key=${picture.src} picture=${picture}
        editor=${editor.current} done=${close} />`}
      ${below === "snippets" && snippets && html`<${SnippetMenu} fields=${snippets.fields} close=${close}
        choose=${(/** @type {import("../snippets/store.js").Snippet} */ one) => {
          close();
          snippets.put(one, 0);
        }} />`}
      <${Toolbar} editor=${editor} formats=${formats} linking=${below === "link"} link=${toggle("link")}
        pictures=${isOurs && files ? pictures : undefined}
        choosing=${below === "snippets"} snippets=${snippets && toggle("snippets")} />
    </div>
  </div>`;
}

/** Loads the editor; a failed load can be tried again. */
function useAttempts() {
  const [attempt, setAttempt] = useState(0);
  const [failed, setFailed] = useState(-1);
  return { attempt, problem: failed === attempt, again: () => (failed === attempt ? setAttempt(attempt + 1)
    : setFailed(attempt)) };
}

/**
 * A click into the empty space below the text focuses the text.
 * @param {MouseEvent} event
 * @param {{ focus: () => void } | null} text
 */
function focusBelow(event, text) {
  if (event.target !== event.currentTarget) return;
  event.preventDefault();
  text?.focus();
}

/** @param {ReadonlySet<Format>} before @param {ReadonlySet<Format>} now */
function same(before, now) {
  return before.size === now.size && [...now].every((one) => before.has(one));
}
