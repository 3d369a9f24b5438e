// @ts-check
/** The editor with its toolbar: bold, italic, link, lists. */
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { RichText, loadSquire } from "./richtext.js";
import { safeAddress } from "./clean.js";

const NONE = { bold: false, italic: false, bullets: false, numbers: false, link: false };
const MAIN_KEY = /Mac|iP(?:hone|ad|od)/.test(navigator.platform) ? "⌘" : "Ctrl+";
/** @type {{ format: Exclude<import("./richtext.js").Format, "link">, icon: string, label: string, keys: string }[]} */
const TOOLS = [
  { format: "bold", icon: "bold", label: "Bold", keys: "B" },
  { format: "italic", icon: "italic", label: "Italic", keys: "I" },
  { format: "bullets", icon: "bullets", label: "Bulleted list", keys: "Shift+8" },
  { format: "numbers", icon: "numbers", label: "Numbered list", keys: "Shift+7" },
];

/**
 * @typedef {object} EditorProps
 * @property {string} start the HTML it begins with; later ones are not heard of
 * @property {string} label
 * @property {(html: string) => void} changed
 * @property {(files: File[]) => void} [files]
 * @property {(words: string) => void} [said]
 * @property {(editor: RichText | null) => void} ready
 * @property {unknown} [children] below the text, in the same scrolled column
 */

/** @param {EditorProps} props */
export function Editor({ start, label, changed, files, said, ready, children }) {
  const root = useRef(/** @type {HTMLDivElement | null} */ (null));
  const editor = useRef(/** @type {RichText | null} */ (null));
  const heard = useRef({ changed, files, said });
  heard.current = { changed, files, said };
  const [formats, setFormats] = useState(NONE);
  const [linking, setLinking] = useState(false);
  const { problem, again, attempt } = useAttempts();
  useEffect(() => {
    let current = true;
    loadSquire().then(
      (Squire) => {
        if (!current || !root.current) return;
        editor.current = new RichText(Squire, root.current, start, {
          changed: (text) => heard.current.changed(text),
          files: (given) => heard.current.files?.(given),
          said: (words) => heard.current.said?.(words),
          formats: (now) => setFormats((before) => (same(before, now) ? before : now)),
          link: () => setLinking(true),
        });
        ready(editor.current);
      },
      () => current && again(),
    );
    return () => {
      current = false;
      editor.current?.destroy();
      editor.current = null;
      ready(null);
    };
  }, [attempt]);
  const endLinking = () => {
    setLinking(false);
    editor.current?.focus();
  };
  return html`<div class="editor-rich">
    <div class="rich-scroll" onMouseDown=${(/** @type {MouseEvent} */ event) => focusBelow(event, editor.current)}>
      ${problem && html`<p class="form-problem" role="alert">The editor could not be loaded. <button type="button"
        class="link" onClick=${again}>Try again</button></p>`}
      <div class="rich-text" ref=${root} role="textbox" tabindex="0" aria-multiline="true" aria-label=${label}
        spellcheck=${true} dir="auto"></div>
      ${children}
    </div>
    ${linking && html`<${LinkForm} editor=${editor.current} done=${endLinking} />`}
    <${Toolbar} formats=${formats} toggle=${(/** @type {Exclude<import("./richtext.js").Format, "link">} */ format) =>
      editor.current?.toggle(format)}
      linking=${linking} link=${() => setLinking(!linking)} />
  </div>`;
}

/**
 * @param {{ formats: import("./richtext.js").Formats, toggle: (format: any) => void, linking: boolean, link: () => void
 * }} props
 */
function Toolbar({ formats, toggle, linking, link }) {
  // A press must not take the selection out of the text.
  const hold = (/** @type {MouseEvent} */ event) => event.preventDefault();
  const [bold, italic, ...lists] = TOOLS.map(
    ({ format, icon, label, keys }) => html`<button type="button" key=${format} class="format" aria-label=${label}
      title=${`${label} (${MAIN_KEY}${keys})`}
      tabindex=${format === "bold" ? 0 : -1} aria-pressed=${formats[format] ? "true" : "false"} onMouseDown=${hold}
        onClick=${() => toggle(format)}><${Icon} name=${icon} /></button>`,
  );
  return html`<div class="formats" role="toolbar" aria-label="Formatting" onKeyDown=${walk}>
    ${bold}${italic}
    <button type="button" class="format" aria-label="Link" title=${`Link (${MAIN_KEY}K)`} tabindex="-1"
      aria-pressed=${formats.link ? "true" : "false"} aria-expanded=${linking ? "true" : "false"}
      onMouseDown=${hold} onClick=${link}><${Icon} name="link" /></button>
    ${lists}
  </div>`;
}

/** @param {{ editor: RichText | null, done: () => void }} props */
function LinkForm({ editor, done }) {
  const [address, setAddress] = useState(() => editor?.linkHere() ?? "");
  const [problem, setProblem] = useState("");
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const had = address !== "" && editor?.linkHere() !== "";
  useEffect(() => input.current?.select(), []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const safe = safeAddress(address);
    if (safe === null) {
      setProblem("That is no address of a page or a mailbox.");
      return;
    }
    done();
    editor?.link(safe);
  };
  const remove = () => {
    done();
    editor?.unlink();
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    done();
  };
  return html`<form class="link-form" onSubmit=${submit} onKeyDown=${onKeyDown}>
    <label class="sr-only" for="link-address">Address of the link</label>
    <input id="link-address" ref=${input} type="text" inputmode="url" autocapitalize="none" spellcheck=${false}
      placeholder="https://…" value=${address}
      aria-describedby=${problem ? "link-problem" : undefined}
      onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setAddress(event.currentTarget.value)} />
    <button class="button small primary">Set link</button>
    ${had && html`<button type="button" class="button small" onClick=${remove}>Remove link</button>`}
    <button type="button" class="button small" onClick=${done}>Cancel</button>
    ${problem && html`<p class="form-problem" id="link-problem" role="alert">${problem}</p>`}
  </form>`;
}

/** The text is fetched with the app; when that fails it can be tried again. */
function useAttempts() {
  const [attempt, setAttempt] = useState(0);
  const [failed, setFailed] = useState(-1);
  return { attempt, problem: failed === attempt, again: () => (failed === attempt ? setAttempt(attempt + 1)
    : setFailed(attempt)) };
}

/**
 * A click into the empty room below the text is meant for the text.
 * @param {MouseEvent} event
 * @param {RichText | null} editor
 */
function focusBelow(event, editor) {
  if (event.target !== event.currentTarget) return;
  event.preventDefault();
  editor?.focus();
}

/** Arrow keys walk along the toolbar, which is one stop of the Tab key. @param {KeyboardEvent} event */
function walk(event) {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (!step || !(event.target instanceof HTMLElement) || !(event.currentTarget instanceof HTMLElement)) return;
  event.preventDefault();
  const buttons = [...event.currentTarget.querySelectorAll("button")];
  const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
  buttons[(at + step + buttons.length) % buttons.length]?.focus();
}

/** @param {import("./richtext.js").Formats} before @param {import("./richtext.js").Formats} now */
function same(before, now) {
  return /** @type {import("./richtext.js").Format[]} */ (Object.keys(now)).every((key) => before[key] === now[key]);
}
