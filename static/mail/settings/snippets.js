// @ts-check
/** Snippets: texts for repeated use, each edited in place. */
import { useEffect, useRef, useState } from "preact/hooks";
import { formatMailbox, parseMailboxes } from "../compose/addresses.js";
import { Editor } from "../compose/editor.js";
import { KNOWN } from "../snippets/fields.js";
import { wordsOf } from "../snippets/menu.js";
import { deleteSnippet, loadSnippets, saveSnippet, snippets } from "../snippets/store.js";
import { Nothing } from "../../ui/empty.js";
import { useAction } from "../../ui/action.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { toast } from "../../ui/toast.js";
import { reasonOf } from "../../settings/fetched.js";
import { UnsavedTexts } from "../../unsaved.js";
import { WrittenBefore, useHalfWritten } from "./half_written.js";

/** @typedef {import("../snippets/store.js").Snippet} Snippet */
/** @typedef {Record<"name" | "html" | "subject" | "to" | "cc" | "bcc", string>} Written as it stands in the form */

/** By the id of the snippet; "": a new one. @type {UnsavedTexts<Written>} */
const unsaved = new UnsavedTexts("snippet");

export function SnippetsSection() {
  const [problem, setProblem] = useState("");
  const [edited, setEdited] = useState(/** @type {string | null} */ (null)); // "": a new one
  useEffect(() => void loadSnippets().catch((error) => setProblem(reasonOf(error))), []);
  useEffect(() => void unsaved.paths().then(([first]) => setEdited((now) => now ?? first ?? null)), []);
  const known = snippets.value;
  const isNew = edited !== null && !known?.some(({ id }) => id === edited); // or it was deleted while it was edited
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
      ? html`<${SnippetForm} key=${one.id} snippet=${one} path=${one.id} close=${close} />`
      : html`<${SnippetRow} key=${one.id} snippet=${one} edit=${() => setEdited(one.id)} />`)}</div>
      ${isNew ? html`<${SnippetForm} key=${edited} snippet=${null} path=${edited} close=${close} />`
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

/** @param {{ snippet: Snippet | null, path: string, close: () => void }} props `path`: of its unsaved text */
function SnippetForm({ snippet, path, close }) {
  const [begun] = useHalfWritten(unsaved, path);
  const leave = () => {
    unsaved.drop(path);
    close();
  };
  return begun === undefined ? null : html`<${WrittenForm} snippet=${snippet} begun=${begun} leave=${leave}
    written=${(/** @type {Written} */ now) => unsaved.keep(path, now)} />`;
}

/**
 * @param {{ snippet: Snippet | null, begun: Written | null, leave: () => void, written: (now: Written) => void }} props
 */
function WrittenForm({ snippet, begun, leave, written }) {
  const editor = useRef(/** @type {import("../compose/richtext.js").RichText | null} */ (null));
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const [loaded, setLoaded] = useState(false);
  const { busy, problem, run } = useAction();
  useEffect(() => form.current?.querySelector("input")?.focus(), []);
  const save = async () => {
    if (!editor.current || !form.current) return;
    const now = writtenNow(form.current, editor.current.html());
    const people = (/** @type {string} */ typed) => parseMailboxes(typed).map(formatMailbox);
    await saveSnippet({ ...(snippet && { id: snippet.id }), name: now.name.trim(), html: now.html,
      subject: now.subject, to: people(now.to), cc: people(now.cc), bcc: people(now.bcc) });
    toast("Snippet saved.");
    leave();
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void run(save);
  };
  const keep = () => {
    if (editor.current && form.current) written(writtenNow(form.current, editor.current.html()));
  };
  const start = begun ?? startOf(snippet);
  const line = (/** @type {keyof Written} */ name, /** @type {string} */ label, more = {}) => html`<label
    class="field"><span>${label}</span><input name=${name} type="text" defaultValue=${start[name]} autocomplete="off"
      ...${more} /></label>`;
  return html`<form class="setting snippet-setting" ref=${form} onSubmit=${submit} onInput=${keep}
    aria-label=${snippet ? `Snippet ${snippet.name}` : "New snippet"}>
    ${begun && html`<${WrittenBefore} />`}
    ${line("name", "Name, one word", { maxlength: 40, autocapitalize: "none", required: true })}
    <${Editor} start=${start.html} label="Text of the snippet" changed=${keep}
      ready=${(/** @type {import("../compose/richtext.js").RichText | null} */ one) => {
        editor.current = one;
        setLoaded(one !== null);
      }} />
    <details><summary>Subject and recipients</summary>
      ${line("subject", "Subject", { maxlength: 900 })}
      ${line("to", "To")}${line("cc", "Cc")}${line("bcc", "Bcc")}
    </details>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    <p class="page-actions"><button class="button primary" disabled=${!loaded} aria-busy=${busy}>Save</button>
      <button type="button" class="button" onClick=${leave}>Cancel</button></p>
  </form>`;
}

/** @param {Snippet | null} snippet @returns {Written} */
function startOf(snippet) {
  const list = (/** @type {readonly string[] | undefined} */ all) => all?.join(", ") ?? "";
  return { name: snippet?.name ?? "", html: snippet?.html ?? "", subject: snippet?.subject ?? "", to: list(snippet?.to),
    cc: list(snippet?.cc), bcc: list(snippet?.bcc) };
}

/** @param {HTMLFormElement} form @param {string} text @returns {Written} */
function writtenNow(form, text) {
  const given = new FormData(form);
  const field = (/** @type {string} */ name) => String(given.get(name) ?? "");
  return { name: field("name"), html: text, subject: field("subject"), to: field("to"), cc: field("cc"),
    bcc: field("bcc") };
}
