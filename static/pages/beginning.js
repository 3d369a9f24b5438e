// @ts-check
/** The form that creates a page: empty, or with the text of a template that a feature offers. */
import { useState } from "preact/hooks";
import { features } from "../feature.js";
import { html } from "../ui/html.js";
import { drafts } from "./drafts.js";
import { lastPart } from "./paths.js";

/** @param {{ path: string, create: () => void }} props */
export function Beginning({ path, create }) {
  const [chosen, setChosen] = useState("");
  const [problem, setProblem] = useState("");
  const templates = features().flatMap((row) => row.templates?.() ?? []);
  const begin = async () => {
    const template = templates.find((one) => one.id === chosen);
    try {
      if (template) drafts.keep(path, { title: lastPart(path), body: await template.text(), revision: 0 });
      create();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return html`<div class="page-beginning">
    ${templates.length > 0 && html`<label class="field">Begin with
      <select value=${chosen}
        onChange=${(/** @type {{ currentTarget: HTMLSelectElement }} */ event) => setChosen(event.currentTarget.value)}>
        <option value="">An empty page</option>
        ${templates.map((one) => html`<option key=${one.id} value=${one.id}>${one.title} (${one.group})</option>`)}
      </select></label>`}
    <button class="button primary" onClick=${() => void begin()}>Create this page</button>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </div>`;
}
