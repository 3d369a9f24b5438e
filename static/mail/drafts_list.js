// @ts-check
/**
 * The list of drafts: the person's own, newest first, and those that other programs began, which can be opened and
 * continued.
 */
import { useEffect, useState } from "preact/hooks";
import { now } from "../now.js";
import { ago } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { withKeys } from "../ui/key_words.js";
import { accounts } from "./accounts.js";
import { mailPath } from "./address.js";
import { discardKept, openDraft, shortName } from "./compose/compose.js";
import { drafts, loadDrafts } from "./compose/drafts.js";
import { listed } from "./names.js";
import { labelSource } from "./sources.js";

/** @type {import("./address.js").View} */
const THREADS = { kind: "label", name: "Draft" };
const OTHERS_SHOWN = 50;

/** The number of drafts, for the navigation. @returns {import("../feature.js").NavCount | null} */
export function draftsCount() {
  const n = drafts.value.length;
  return n ? { n, words: String(n) } : null;
}

/**
 * The shortcuts while the list is shown; the browser handles Enter on a row.
 * @type {import("../keys.js").Shortcut[]}
 */
export const DRAFT_SHORTCUTS = [
  { keys: ["j", "ArrowDown"], label: "Next draft", repeats: true, run: () => step(1) },
  { keys: ["k", "ArrowUp"], label: "Previous draft", repeats: true, run: () => step(-1) },
  { keys: ["Home"], label: "First draft", run: () => go(0), when: () => rows().length > 0 },
  { keys: ["End"], label: "Last draft", run: () => go(rows().length - 1), when: () => rows().length > 0 },
  { keys: ["o"], label: "Go on writing it", acts: true, when: () => here() >= 0, run: () => rows()[here()]?.click() },
  { keys: ["#"], label: "Delete the draft", acts: true, when: () => rows()[here()]?.dataset.draft !== undefined,
    run: deleteHere },
];

/** @param {{ accountId: string | null }} props */
export function DraftsList({ accountId }) {
  useEffect(() => void loadDrafts(), []);
  const others = useOthers(accountId);
  return html`<div class="drafts-list">
    ${!drafts.value.length && !others.threads.length && html`<div class="empty"><${Icon} name="edit" size=${40} />
      <p class="empty-title">No drafts</p>
      <p>What you begin to write is kept here until it is sent.</p></div>`}
    <ul>${drafts.value.map((one) => html`<li key=${one.id}>
      <button class="drafts-row" data-draft=${one.id} onClick=${() => void openDraft(one.id)}>
        <${Row} to=${one.to.map(shortName)} at=${one.updatedAt} subject=${one.subject} snippet=${one.snippet} />
        ${one.notes.map((words) => html`<span key=${words} class="drafts-note"><${Icon} name="warning" size=${14} />
          ${" "}<bdi>${words}</bdi></span>`)}
      </button>
      <button class="icon-button" aria-label=${`Delete the draft: ${one.subject || "no subject"}`}
        title=${withKeys("Delete", "Drafts #")} onClick=${() => away(one.id)}><${Icon} name="trash" /></button>
    </li>`)}</ul>
    ${others.threads.length > 0 && html`<h2 class="drafts-others" id="drafts-others">From other programs</h2>
      <ul aria-labelledby="drafts-others">${others.threads.map(({ thread, draft }) => html`<li key=${thread.id}>
        <a class="drafts-row" href=${mailPath(accountId, thread.id, THREADS)}>
          <${Row} to=${draft.to.map((one) => one.title || one.name || one.address)} at=${draft.at}
            subject=${thread.subject} snippet=${draft.snippet} />
        </a></li>`)}</ul>
      ${others.more && html`<p class="drafts-others"><a href=${mailPath(accountId, null, THREADS)}>All threads with
        drafts of other programs</a></p>`}`}
  </div>`;
}

/** @param {{ to: string[], at: string, subject: string, snippet: string }} props */
function Row({ to, at, subject, snippet }) {
  return html`<span class="drafts-to"><bdi>${to.length ? `To ${listed(to)}` : "To nobody yet"}</bdi></span>
    <span class="drafts-time">${ago(at, now.value)}</span>
    <span class="drafts-text"><bdi>${subject || "(no subject)"}</bdi> <span class="quiet-text"><bdi>${snippet}</bdi>
      </span></span>`;
}

/**
 * The threads with drafts that exist only in the mailboxes; fetched again with each event of the accounts and of the
 * person's own drafts: a draft that is edited here becomes one of them.
 * @param {string | null} accountId
 */
function useOthers(accountId) {
  const [found, setFound] = useState(/** @type {{ threads: { thread: Thread, draft: NonNullable<Thread["draft"]> }[],
    more: boolean }} */ ({ threads: [], more: false }));
  const [known, own] = [accounts.value, drafts.value];
  useEffect(() => {
    let left = false;
    labelSource("Draft", accountId).page(null, OTHERS_SHOWN).then(({ threads, nextCursor }) => {
      const rows = threads.flatMap((thread) => (thread.draft ? [{ thread, draft: thread.draft }] : []));
      if (!left) setFound({ threads: rows, more: nextCursor !== null });
    }, () => undefined); // the list stays: the next event fetches again
    return () => {
      left = true;
    };
  }, [accountId, known, own]);
  return found;
}

/** @returns {HTMLElement[]} */
function rows() {
  return [...document.querySelectorAll(/** @type {"button"} */ (".drafts-list .drafts-row"))];
}

/** The index of the focused draft, on its row or its button; -1: the focus is elsewhere. */
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

/** Removes a draft from the list; the next one gets the focus, else the previous one. @param {string} id */
function away(id) {
  const all = rows();
  const at = all.findIndex((one) => one.dataset.draft === id);
  (all[at + 1] ?? all[at - 1])?.focus();
  discardKept(id);
}
