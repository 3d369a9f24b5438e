// @ts-check
/** Snippets: texts for repeated use, each edited in place. */
import { useEffect, useRef, useState } from "preact/hooks";
import { formatMailbox, parseMailboxes } from "../compose/addresses.js";
import { Editor } from "../compose/editor.js";
import { KNOWN } from "../snippets/fields.js";
import { wordsOf } from "../snippets/menu.js";
import { deleteSnippet, loadSnippets, saveSnippet, snippets } from "../snippets/store.js";
import { Nothing } from "../../ui/empty.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { toast } from "../../ui/toast.js";
import { reasonOf } from "../../settings/fetched.js";

/** @typedef {import("../snippets/store.js").Snippet} Snippet */

export function SnippetsSection() {
  const [problem, setProblem] = useState("");
  const [edited, setEdited] = useState(/** @type {string | null} */ (null)); // "": a new one
  useEffect(() => void loadSnippets().catch((error) => setProblem(reasonOf(error))), []);
  const known = snippets.value;
  const close = () => setEdited(null);
  const begin = html`<p><button type="button" class="button primary" onClick=${() => setEdited("")}>
    <${Icon} name="plus" size=${16} /> New snippet</button></p>`;
  return html`<p class="fine">Type <kbd>;name</kbd> in a message to put one in, or press
      ${" "}<kbd>Ctrl</kbd> <kbd>;</kbd>.</p>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    ${!known && !problem && html`<p class="quiet-text" role="status">Loading the snippets</p>`}
    ${known?.length === 0 && edited === null && html`<section class="setting" aria-label="Snippets"><${Nothing}
      icon="snippet" title="No snippets yet">
      <p>A text that you write again and again, such as the way to your door, is one word away.</p>
      ${begin}</${Nothing}></section>`}
    ${known && html`<div class="snippet-list">${known.map((one) => one.id === edited
      ? html`<${SnippetForm} key=${one.id} snippet=${one} close=${close} />`
      : html`<${SnippetRow} key=${one.id} snippet=${one} edit=${() => setEdited(one.id)} />`)}</div>
      ${edited === "" ? html`<${SnippetForm} snippet=${null} close=${close} />`
        : known.length > 0 && begin}
      <${Fields} />`}`;
}

/** The fields that a text may contain, in braces. */
function Fields() {
  return html`<section class="setting" aria-labelledby="fields-title">
    <h2 id="fields-title">Fields</h2>
    <dl class="snippet-fields">
      <dt>${KNOWN.map((field) => html`<code key=${field}>{${field}}</code> `)}</dt><dd>Filled in by themselves</dd>
      <dt><code>{cursor}</code></dt><dd>Where writing goes on</dd>
      <dt><code>{project}</code></dt><dd>Any other word: Tab leads to it, and you fill it in</dd>
    </dl>
  </section>`;
}

/** @param {{ snippet: Snippet, edit: () => void }} props */
function SnippetRow({ snippet, edit }) {
  const remove = async () => {
    const { id, updatedAt: _, ...kept } = snippet;
    try {
      await deleteSnippet(id);
    } catch (error) {
      toast(`Could not delete it: ${reasonOf(error)}`, { tone: "error" });
      return;
    }
    const back = () => void saveSnippet(kept).catch((error) => toast(reasonOf(error), { tone: "error" }));
    toast("Snippet deleted.", { action: { label: "Undo", run: back } });
  };
  return html`<div class="snippet-row">
    <span class="snippet-name"><bdi>${snippet.name}</bdi></span>
    <span class="snippet-words"><bdi>${wordsOf(snippet)}</bdi></span>
    <button type="button" class="button small" aria-label=${`Edit ${snippet.name}`} onClick=${edit}>Edit</button>
    <button type="button" class="button small" aria-label=${`Delete ${snippet.name}`} onClick=${remove}>Delete</button>
  </div>`;
}

/** @param {{ snippet: Snippet | null, close: () => void }} props */
function SnippetForm({ snippet, close }) {
  const editor = useRef(/** @type {import("../compose/richtext.js").RichText | null} */ (null));
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy || !editor.current || !form.current) return;
    setBusy(true);
    const given = new FormData(form.current);
    const field = (/** @type {string} */ name) => String(given.get(name) ?? "");
    const people = (/** @type {string} */ name) => parseMailboxes(field(name)).map(formatMailbox);
    try {
      await saveSnippet({ ...(snippet && { id: snippet.id }), name: field("name").trim(), html: editor.current.html(),
        subject: field("subject"), to: people("to"), cc: people("cc"), bcc: people("bcc") });
      toast("Snippet saved.");
      close();
    } catch (error) {
      setProblem(reasonOf(error));
      setBusy(false);
    }
  };
  const line = (/** @type {string} */ name, /** @type {string} */ label, value = "", more = {}) => html`<label
    class="field"><span>${label}</span><input name=${name} type="text" defaultValue=${value} autocomplete="off"
      ...${more} /></label>`;
  const list = (/** @type {readonly string[] | undefined} */ all) => all?.join(", ");
  return html`<form class="setting snippet-setting" ref=${form} onSubmit=${save}
    aria-label=${snippet ? `Snippet ${snippet.name}` : "New snippet"}>
    ${line("name", "Name, one word", snippet?.name, { maxlength: 40, autocapitalize: "none", required: true })}
    <${Editor} start=${snippet?.html ?? ""} label="Text of the snippet" changed=${() => undefined}
      ready=${(/** @type {import("../compose/richtext.js").RichText | null} */ one) => { editor.current = one; }} />
    <details><summary>Subject and recipients</summary>
      ${line("subject", "Subject", snippet?.subject, { maxlength: 900 })}
      ${line("to", "To", list(snippet?.to))}${line("cc", "Cc", list(snippet?.cc))}
      ${line("bcc", "Bcc", list(snippet?.bcc))}
    </details>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    <p class="page-actions"><button class="button primary" aria-busy=${busy}>Save</button>
      <button type="button" class="button" onClick=${close}>Cancel</button></p>
  </form>`;
}
