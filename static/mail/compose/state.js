// @ts-check
/** The state of the draft: a short text at the bottom, and a question at the top if another tab has changed it. */
import { useState } from "preact/hooks";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { closeComposer } from "./composer.js";
import { drafts } from "./drafts.js";

/** @type {Record<import("./draft.js").State, string>} */
const WORDS = {
  untouched: "", dirty: "", saving: "Saving…", saved: "Draft saved", failed: "Not saved yet", conflict: "Not saved",
    gone: "Not saved",
};

/** @param {{ draft: import("./draft.js").Draft }} props */
export function SaveState({ draft }) {
  const state = draft.state.value;
  return html`<p class="save-state" role="status" title=${draft.problem.value}>${WORDS[state]}
    ${state === "failed" && html`<span class="save-problem">: ${draft.problem.value} It is kept in this browser.
      </span>`}</p>`;
}

/**
 * Problems with the draft's copy in the mailbox, if there are any.
 * @param {{ draft: import("./draft.js").Draft }} props
 */
export function Notes({ draft }) {
  void draft.state.value; // a draft that was just saved for the first time has an id
  const notes = drafts.value.find((one) => one.id === draft.id)?.notes ?? draft.notes;
  if (!notes.length) return null;
  return html`<ul class="compose-notes" role="status">
    ${notes.map((words) => html`<li key=${words}><${Icon} name="warning" size=${14} /> <bdi>${words}</bdi></li>`)}
  </ul>`;
}

/** @param {{ draft: import("./draft.js").Draft }} props */
export function Conflict({ draft }) {
  const [problem, setProblem] = useState("");
  const state = draft.state.value;
  if (state !== "conflict" && state !== "gone") return null;
  const act = (/** @type {() => Promise<void>} */ run) => async () => {
    setProblem("");
    try {
      await run();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  const theirs = act(() => draft.takeTheirs());
  return html`<div class="notice bad" role="alert">
    <${Icon} name="warning" />
    <div>
      <p>${state === "conflict" ? "This draft was changed in another window while you were writing here."
        : "This draft was sent or deleted in another window."}</p>
      <p class="page-actions">
        ${state === "conflict"
          ? html`<button type="button" class="button small" onClick=${theirs}>Load the other</button>
              <button type="button" class="button small" onClick=${act(() => draft.keepMine())}>Keep mine</button>`
          : html`<button type="button" class="button small" onClick=${act(() => draft.keepAsNew())}>Keep mine as a new
            draft</button>
              <button type="button" class="button small" onClick=${() => void closeComposer({ drop: true })}>Close
              </button>`}
      </p>
      ${problem && html`<p class="form-problem">${problem}</p>`}
    </div>
  </div>`;
}
