// @ts-check
/** Triage in mail: the kinds as filters of the list, the kind of the open thread, and the keys that correct it. */
import { useEffect } from "preact/hooks";
import { signal } from "@preact/signals";
import { navigate } from "../router.js";
import { mutate, query } from "../rpc.js";
import { html } from "../ui/html.js";
import { MenuButton, MenuItem } from "../ui/menu.js";
import { toast } from "../ui/toast.js";
import { inOrder } from "./actions.js";
import { SECTIONS_VIEW, mailPath } from "./address.js";
import { KINDS, KIND_WORDS, kindOf, kinds, kindsAsked, tellKind, triageOn } from "./kinds.js";
import { applyThread, knownThread, refetchTriage } from "./lists.js";
import { currentAccountId, currentView, listShown, openId } from "./moving.js";

/** @typedef {import("./kinds.js").Kind} Kind */

const MAX_REASONS = 500;
/** The reason for the kind of each thread. @type {import("@preact/signals").Signal<ReadonlyMap<string, string>>} */
const reasons = signal(new Map());

/** Called once, and after each gap in the live updates. */
export async function loadTriage() {
  try {
    triageOn.value = (await query("triage.get")).enabled;
  } catch {
    // Without an answer these filters are missing; the next view fetches again.
  }
}

/** @param {LiveEvent} event */
export function onTriageEvent({ id, kind, payload }) {
  if (kind !== "triage.changed") return;
  const said = /** @type {{ kind?: string, because?: string } | null} */ (payload);
  const found = kindOf(said?.kind);
  if (found) moved(id, found, said?.because ?? "");
}

/** @param {string} id @param {Kind} kind @param {string} because */
function moved(id, kind, because) {
  tellKind([id], kind);
  noteReason(id, because);
  const thread = knownThread(id);
  if (thread) applyThread(thread);
  else refetchTriage();
}

/** @param {string} id @param {string} because */
function noteReason(id, because) {
  const next = new Map(reasons.value).set(id, because);
  for (const old of next.keys()) {
    if (next.size <= MAX_REASONS) break;
    next.delete(old);
  }
  reasons.value = next;
}

/** Shows the threads of a kind; if they are shown, goes back to the inbox. @param {Kind} kind */
export function narrowToKind(kind) {
  const view = currentView();
  const next = view.kind === "triage" && view.name === kind ? SECTIONS_VIEW
    : /** @type {import("./address.js").View} */ ({ kind: "triage", name: kind });
  navigate(mailPath(currentAccountId(), listShown() ? openId() : null, next), { replace: true });
}

/** A chip for each kind, after the other filters. */
export function KindFilters() {
  if (!triageOn.value) return null;
  const view = currentView();
  const shown = view.kind === "triage" ? view.name : null;
  return html`<span class="filter-kinds" role="group" aria-label="Kinds of mail">${KINDS.map((one) => html`<button
    key=${one} class="filter" aria-pressed=${one === shown ? "true" : "false"} title=${`Show ${KIND_WORDS[one]}`}
    onClick=${() => narrowToKind(one)}>${KIND_WORDS[one]}</button>`)}</span>`;
}

/** The kind of the open thread, and a menu to correct it. @param {{ threadId: string }} props */
export function KindMark({ threadId }) {
  const on = triageOn.value;
  useEffect(() => {
    if (!on) return;
    const note = kindsAsked();
    query("triage.of", { threadIds: [threadId] }).then(([found]) => {
      if (!found) return;
      note([threadId], found.kind);
      if (kinds.value.get(threadId) === found.kind) noteReason(threadId, found.because);
    }, () => {});
  }, [threadId, on]);
  if (!on) return null;
  const kind = kinds.value.get(threadId);
  const because = reasons.value.get(threadId);
  return html`<span class="thread-kind"><${MenuButton} id="kind-menu" class="chip quiet" icon="filter" size=${14}
    label=${kind ? `Kind: ${KIND_WORDS[kind]}` : "Say of what kind it is"} words=${kind ? KIND_WORDS[kind] : "Kind"}
    title=${because ? `${KIND_WORDS[/** @type {Kind} */ (kind)]}: ${because}` : "Of what kind it is"}
    about="Kind of mail">
    ${KINDS.map((one) => html`<${MenuItem} key=${one} icon=${one === kind ? "check" : "filter"}
      words=${KIND_WORDS[one]} act=${() => void correct([threadId], one)} />`)}
  <//></span>`;
}

/**
 * Sets the kind that a person chose: shown at once here, and stored on the server. Sent after the earlier ones: of two
 * kinds for one thread the later one stays.
 * @param {string[]} threadIds
 * @param {Kind} kind
 */
export async function correct(threadIds, kind) {
  const before = new Map(threadIds.map((id) => [id, kinds.value.get(id)]));
  for (const id of threadIds) moved(id, kind, "you said so");
  try {
    const told = await inOrder(() => Promise.all(threadIds.map((threadId) => mutate("triage.correct",
      { threadId, kind }))));
    const senders = [...new Set(told.map((one) => one.learned).filter((one) => one !== null))];
    toast(senders.length ? `${KIND_WORDS[kind]}. So is what ${senders.join(", ")} sends from now on.`
      : `${KIND_WORDS[kind]}.`, senders.length ? { action: { label: "Only this one", run: () => void forget(senders) } }
      : {});
  } catch (error) {
    for (const [id, was] of before) if (was && kinds.value.get(id) === kind) moved(id, was, "");
    toast(error instanceof Error ? error.message : String(error), { tone: "error" });
  }
}

/** @param {string[]} senders */
async function forget(senders) {
  try {
    await Promise.all(senders.map((address) => mutate("triage.forget", { address })));
    toast("Nothing is remembered of the sender.");
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), { tone: "error" });
  }
}
