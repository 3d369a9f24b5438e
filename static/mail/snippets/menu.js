// @ts-check
/** The menu below the text: choose a snippet by its name, or make one from the message. */
import { useEffect, useState } from "preact/hooks";
import { reasonOf } from "../../settings/fetched.js";
import { matchScore } from "../../ui/fuzzy.js";
import { Chooser } from "../../ui/chooser.js";
import { useCloseRequest } from "../../ui/close_request.js";
import { html } from "../../ui/html.js";
import { toast } from "../../ui/toast.js";
import { snippetOf } from "./putting.js";
import { saveSnippet, snippets, wantSnippets } from "./store.js";

/** @typedef {import("./store.js").Snippet} Snippet */

/**
 * @param {{ fields: () => import("../compose/wire.js").Fields, choose: (snippet: Snippet) => void, close: () => void
 * }} props
 */
export function SnippetMenu({ fields, choose, close }) {
  const [text, setText] = useState("");
  const [saving, setSaving] = useState(false);
  const [problem, setProblem] = useState("");
  useEffect(() => void wantSnippets().catch((error) => setProblem(reasonOf(error))), []);
  useCloseRequest(close);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  const known = snippets.value;
  const items = ranked(known ?? [], text);
  const nothing = known?.length === 0 ? "There are no snippets yet. Write a text, and save it as one."
    : "No snippet is called so.";
  return html`<div class="snippet-menu" role="group" aria-label="Snippets" onKeyDown=${onKeyDown}>
    ${saving
      ? html`<${SaveForm} fields=${fields} done=${close} />`
      : known && html`<${Chooser} id="snippets" label="Snippet" placeholder="Put in a snippet" text=${text}
          setText=${setText} items=${items} choose=${choose} nothing=${nothing}
          show=${(/** @type {Snippet} */ one) => html`<span class="snippet-name"><bdi>${one.name}</bdi></span>
            <span class="snippet-words"><bdi>${wordsOf(one)}</bdi></span>`} />`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    ${!saving && html`<p class="snippet-acts">
      <button type="button" class="button small" onClick=${() => setSaving(true)}>Save as snippet</button>
      <a class="button small" href="/settings/snippets">Edit snippets</a>
      <button type="button" class="button small" onClick=${close}>Close</button>
    </p>`}
  </div>`;
}

/** @param {{ fields: () => import("../compose/wire.js").Fields, done: () => void }} props */
function SaveForm({ fields, done }) {
  const [name, setName] = useState("");
  const [people, setPeople] = useState(false);
  const [problem, setProblem] = useState("");
  const { to, cc, bcc } = fields();
  const submit = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await saveSnippet(snippetOf(fields(), { name: name.trim(), people }));
    } catch (error) {
      setProblem(reasonOf(error));
      return;
    }
    toast(`Saved. Type ;${name.trim()} to put it in.`);
    done();
  };
  return html`<form class="snippet-form" onSubmit=${submit}>
    <label for="snippet-name">Name, one word</label>
    <input id="snippet-name" type="text" maxlength="40" autocapitalize="none" autocomplete="off" autofocus value=${name}
      ref=${(/** @type {HTMLInputElement | null} */ field) => field && !name && field.focus()}
      aria-describedby=${problem ? "snippet-problem" : undefined}
      onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setName(event.currentTarget.value)} />
    ${to.length + cc.length + bcc.length > 0 && html`<label class="snippet-people"><input type="checkbox"
      checked=${people} onChange=${() => setPeople(!people)} /> With its recipients</label>`}
    <button class="button small primary">Save as snippet</button>
    <button type="button" class="button small" onClick=${done}>Cancel</button>
    ${problem && html`<p class="form-problem" id="snippet-problem" role="alert">${problem}</p>`}
  </form>`;
}

/**
 * The snippets whose name or text matches the typed text, the best first.
 * @param {Snippet[]} known
 * @param {string} text
 */
export function ranked(known, text) {
  const wanted = text.trim();
  if (!wanted) return known;
  return known
    .map((one) => ({ one, score: matchScore(wanted, `${one.name} ${wordsOf(one)}`) }))
    .filter(({ score }) => score > 0)
    .sort((left, right) => right.score - left.score)
    .map(({ one }) => one);
}

/** The beginning of a snippet, as text. @param {Snippet} snippet */
export function wordsOf({ html: text, subject }) {
  const apart = text.replace(/<\/(?:div|p|li)>|<br>/g, "$& ");
  const words = new DOMParser().parseFromString(apart, "text/html").body.textContent ?? "";
  return [subject, words].map((one) => one.replace(/\s+/g, " ").trim()).filter(Boolean).join(" – ").slice(0, 120);
}
