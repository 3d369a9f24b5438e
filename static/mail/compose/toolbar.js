// @ts-check
/** The buttons of the editor. In a narrow window the rarer ones are folded behind one button. */
import { useRef, useState } from "preact/hooks";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";

const MAIN_KEY = /Mac|iP(?:hone|ad|od)/.test(navigator.platform) ? "⌘" : "Ctrl+";
/** @typedef {import("./formatting.js").Format} Format */
/** @typedef {{ format: Format, label: string, keys: string }} Tool its icon has the name of its format */

/** @type {Tool[]} */
const FIRST = [
  { format: "bold", label: "Bold", keys: "B" },
  { format: "italic", label: "Italic", keys: "I" },
];
/** @type {Tool} */
const BULLETS = { format: "bullets", label: "Bulleted list", keys: "Shift+8" };
/** @type {Tool[]} */
const RARER = [
  { format: "numbers", label: "Numbered list", keys: "Shift+7" },
  { format: "quotation", label: "Quote", keys: "Shift+9" },
  { format: "code", label: "Code", keys: "E" },
  { format: "heading", label: "Heading", keys: "Alt+1" },
  { format: "subheading", label: "Small heading", keys: "Alt+2" },
];

/**
 * @param {{ editor: { current: import("./richtext.js").RichText | null }, formats: ReadonlySet<Format>,
 *   linking: boolean, link: () => void, choosing: boolean, snippets: (() => void) | undefined,
 *   pictures: ((files: File[]) => void) | undefined }} props
 */
export function Toolbar({ editor, formats, linking, link, choosing, snippets, pictures }) {
  const [open, setOpen] = useState(false);
  const tool = (/** @type {Tool} */ { format, label, keys }) => html`<${Button} key=${format} icon=${format}
    label=${label} keys=${keys} first=${format === "bold"} pressed=${formats.has(format)}
    run=${() => editor.current?.toggle(format)} />`;
  return html`<div class=${open ? "formats open" : "formats"} role="toolbar" aria-label="Formatting" onKeyDown=${walk}>
    ${FIRST.map(tool)}
    <${Button} icon="link" label="Link" keys="K" pressed=${formats.has("link")} expanded=${linking} run=${link} />
    ${pictures && html`<${PictureButton} editor=${editor} send=${pictures} />`}
    ${snippets && html`<${Button} icon="snippet" label="Snippets" keys=";" expanded=${choosing} run=${snippets} />`}
    ${tool(BULLETS)}
    <${Button} icon="more-formats" class="formats-fold" label="More formatting" expanded=${open}
      run=${() => setOpen(!open)} />
    <div class="formats-more">
      ${RARER.map(tool)}
      <${Button} icon="plain" label="Clear formatting" keys="\\" run=${() => editor.current?.clear()} />
      <${Button} icon="undo" label="Undo" keys="Z" run=${() => editor.current?.undo()} />
      <${Button} icon="redo" label="Redo" keys="Shift+Z" run=${() => editor.current?.redo()} />
    </div>
  </div>`;
}

/**
 * Opens the form of the picture at the caret; without one it asks for files.
 * @param {{ editor: { current: import("./richtext.js").RichText | null }, send: (files: File[]) => void }} props
 */
function PictureButton({ editor, send }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const chosen = (/** @type {{ currentTarget: HTMLInputElement }} */ event) => {
    send([...(event.currentTarget.files ?? [])]);
    event.currentTarget.value = ""; // the same file may be chosen again
  };
  const run = () => {
    const here = editor.current?.pictureHere();
    if (here) editor.current?.heard.picture?.(here);
    else input.current?.click();
  };
  return html`<input type="file" accept="image/*" multiple hidden ref=${input} onChange=${chosen} />
    <${Button} icon="image" label="Picture" run=${run} />`;
}

/**
 * @param {{ icon: string, label: string, run: () => void, keys?: string, first?: boolean, pressed?: boolean,
 *   expanded?: boolean, class?: string }} props
 */
function Button({ icon, label, run, keys, first = false, pressed, expanded, class: name }) {
  // A press must not clear the selection in the text.
  const hold = (/** @type {MouseEvent} */ event) => event.preventDefault();
  return html`<button type="button" class=${name ? `format ${name}` : "format"} aria-label=${label}
    title=${keys ? `${label} (${MAIN_KEY}${keys})` : label} tabindex=${first ? 0 : -1} aria-pressed=${state(pressed)}
    aria-expanded=${state(expanded)} onMouseDown=${hold} onClick=${run}><${Icon} name=${icon} /></button>`;
}

/** @param {boolean | undefined} on */
function state(on) {
  return on === undefined ? undefined : String(on);
}

/** Arrow keys move along the toolbar, which is one stop of the Tab key. @param {KeyboardEvent} event */
function walk(event) {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (!step || !(event.target instanceof HTMLElement) || !(event.currentTarget instanceof HTMLElement)) return;
  event.preventDefault();
  const buttons = [...event.currentTarget.querySelectorAll("button")].filter((one) => one.checkVisibility());
  const at = buttons.indexOf(/** @type {HTMLButtonElement} */ (event.target));
  buttons[(at + step + buttons.length) % buttons.length]?.focus();
}
