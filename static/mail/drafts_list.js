// @ts-check
/** The place of what is begun and not sent: one's own drafts, newest first, and the way to those of other programs. */
import { useEffect } from "preact/hooks";
import { now } from "../now.js";
import { ago } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { withKeys } from "../ui/key_words.js";
import { mailPath } from "./address.js";
import { discardKept, openDraft, shortName } from "./compose/compose.js";
import { drafts, loadDrafts } from "./compose/drafts.js";
import { listed } from "./names.js";

/** How many there are, for the navigation. @returns {import("../feature.js").NavCount | null} */
export function draftsCount() {
  const n = drafts.value.length;
  return n ? { n, words: String(n) } : null;
}

/** While the list is shown; Enter on a row is the browser's. @type {import("../keys.js").Shortcut[]} */
export const DRAFT_SHORTCUTS = [
  { keys: ["j", "ArrowDown"], label: "Next draft", repeats: true, run: () => step(1) },
  { keys: ["k", "ArrowUp"], label: "Previous draft", repeats: true, run: () => step(-1) },
  { keys: ["Home"], label: "First draft", run: () => go(0) },
  { keys: ["End"], label: "Last draft", run: () => go(rows().length - 1) },
  { keys: ["o"], label: "Go on writing it", acts: true, when: () => here() >= 0, run: () => rows()[here()]?.click() },
  { keys: ["#"], label: "Delete the draft", acts: true, when: () => here() >= 0, run: deleteHere },
];

/** @param {{ accountId: string | null }} props */
export function DraftsList({ accountId }) {
  useEffect(() => void loadDrafts(), []);
  const others = mailPath(accountId, null, { kind: "label", name: "Draft" });
  return html`<div class="drafts-list">
    ${!drafts.value.length && html`<div class="empty"><${Icon} name="edit" size=${40} />
      <p class="empty-title">No drafts</p>
      <p>What you begin to write is kept here until it is sent.</p>
      <p><a href=${others}>Drafts of other programs</a></p></div>`}
    <ul>${drafts.value.map((one) => html`<li key=${one.id}>
      <button class="drafts-row" data-draft=${one.id} onClick=${() => void openDraft(one.id)}>
        <span class="drafts-to"><bdi>${one.to.length ? `To ${listed(one.to.map(shortName))}` : "To nobody yet"}</bdi>
          </span>
        <span class="drafts-time">${ago(one.updatedAt, now.value)}</span>
        <span class="drafts-text"><bdi>${one.subject || "(no subject)"}</bdi> <span class="quiet-text">
          <bdi>${one.snippet}</bdi></span></span>
        ${one.notes.map((words) => html`<span key=${words} class="drafts-note"><${Icon} name="warning" size=${14} />
          ${" "}<bdi>${words}</bdi></span>`)}
      </button>
      <button class="icon-button" aria-label=${`Delete the draft: ${one.subject || "no subject"}`}
        title=${withKeys("Delete", "Drafts #")} onClick=${() => away(one.id)}><${Icon} name="trash" /></button>
    </li>`)}</ul>
    ${drafts.value.length > 0 && html`<p class="drafts-others"><a href=${others}>Drafts of other programs</a></p>`}
  </div>`;
}

/** @returns {HTMLElement[]} */
function rows() {
  return [...document.querySelectorAll(/** @type {"button"} */ (".drafts-list .drafts-row"))];
}

/** Where the focus is among them, on a row or on its button; -1: elsewhere. */
function here() {
  return rows().findIndex((one) => one.parentElement?.contains(document.activeElement));
}

/** @param {1 | -1} by */
function step(by) {
  go(here() < 0 ? 0 : Math.max(0, Math.min(here() + by, rows().length - 1)));
}

/** @param {number} at */
function go(at) {
  rows()[at]?.focus();
}

function deleteHere() {
  const id = rows()[here()]?.dataset.draft;
  if (id !== undefined) away(id);
}

/** The next one has the focus then, else the one before. @param {string} id */
function away(id) {
  const all = rows();
  const at = all.findIndex((one) => one.dataset.draft === id);
  (all[at + 1] ?? all[at - 1])?.focus();
  discardKept(id);
}
