// @ts-check
/** Parts of both the list and the page of a run: its state and its progress. */
import { number } from "../ui/format.js";
import { html } from "../ui/html.js";

/** @param {{ title: string, tone: import("./words.js").Tone }} props */
export function State({ title, tone }) {
  return html`<span class=${`badge run-state ${tone}`}>${title}</span>`;
}

/** @param {{ run: Run }} props */
export function Progress({ run: { progress, title } }) {
  if (!progress) return null;
  const { done, total } = progress;
  return html`<div class="run-progress">
    <progress max=${Math.max(total, 1)} value=${done} aria-label=${`Progress of ${title}`}></progress>
    <span class="fine">${number(done)} of ${number(total)}</span>
  </div>`;
}
