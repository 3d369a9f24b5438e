// @ts-check
/** The place of what is begun and not sent: one's own drafts, newest first, and the way to those of other programs. */
import { useEffect } from "preact/hooks";
import { now } from "../now.js";
import { ago } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { mailPath } from "./address.js";
import { openDraft, shortName } from "./compose/compose.js";
import { drafts, loadDrafts } from "./compose/drafts.js";
import { listed } from "./names.js";

/** How many there are, for the navigation. @returns {import("../feature.js").NavCount | null} */
export function draftsCount() {
  const n = drafts.value.length;
  return n ? { n, words: String(n) } : null;
}

/** @param {{ accountId: string | null }} props */
export function DraftsList({ accountId }) {
  useEffect(() => void loadDrafts(), []);
  return html`<div class="drafts-list">
    ${!drafts.value.length && html`<div class="empty"><${Icon} name="edit" size=${40} />
      <p class="empty-title">No drafts</p>
      <p>What you begin to write is kept here until it is sent.</p></div>`}
    <ul>${drafts.value.map((one) => html`<li key=${one.id}>
      <button class="drafts-row" onClick=${() => void openDraft(one.id)}>
        <span class="drafts-to"><bdi>${one.to.length ? `To ${listed(one.to.map(shortName))}` : "To nobody yet"}</bdi>
          </span>
        <span class="drafts-time">${ago(one.updatedAt, now.value)}</span>
        <span class="drafts-text"><bdi>${one.subject || "(no subject)"}</bdi> <span class="quiet-text">
          <bdi>${one.snippet}</bdi></span></span>
        ${one.notes.map((words) => html`<span key=${words} class="drafts-note"><${Icon} name="warning" size=${14} />
          ${" "}<bdi>${words}</bdi></span>`)}
      </button></li>`)}</ul>
    <p class="drafts-others"><a href=${mailPath(accountId, null, { kind: "label", name: "Draft" })}>Threads with drafts
      of other programs</a></p>
  </div>`;
}
