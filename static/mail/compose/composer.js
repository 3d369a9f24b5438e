// @ts-check
/**
 * The one message that is being written, if any: how it is begun, put aside, sent, thrown away and brought back.
 *
 * Owns the signal of the open window. While it is open (and not minimised) the page's keys rest; when it closes the
 * focus goes back to where it was. Beginning another message keeps the open one as a draft.
 */
import { batch, computed, effect, signal } from "@preact/signals";
import { keyboardTaken } from "../../keys.js";
import { RpcError, mutate, query } from "../../rpc.js";
import { mailPlace } from "../address.js";
import { dismiss, takeBack } from "../../tasks/outgoing.js";
import { toast } from "../../ui/toast.js";
import { accounts } from "../accounts.js";
import { select, selectedId } from "../selection.js";
import { Draft } from "./draft.js";
import { hideDraft, loadDrafts } from "./drafts.js";
import { quotedHtmlOf, rememberQuote } from "./quotes.js";
import { forget } from "./remembered.js";
import { bodyWith, signatureOf } from "./signature.js";
import { handOverLater, mayGoLater, startRefusedMail } from "./waiting.js";
import { blankFields, fromDraft, fromPrepared } from "./wire.js";

/** How long a draft that was thrown away can be brought back; longer than its notice stays. */
const DELETE_AFTER_MS = 15_000;

/**
 * @typedef {object} Composition
 * @property {Draft} draft
 * @property {"to" | "body"} focus where writing begins
 * @property {string} title for the window's head
 * @property {boolean} [unsigned] whether the account's signature is still to be put in, once it is known
 */

/** The open window. */
export const composition = signal(/** @type {Composition | null} */ (null));
/** What the window opens with is under way. */
export const preparing = signal(false);
export const minimised = signal(false);
/** A window that has the keyboard. */
export const composing = computed(() => preparing.value || (composition.value !== null && !minimised.value));

/** What had the focus before the window. @type {HTMLElement | null} */
let before = null;

/** Called once. */
export function startComposer() {
  startRefusedMail(OPENING);
  effect(() => {
    keyboardTaken.value = composing.value;
  });
  const keep = () => {
    const draft = composition.value?.draft;
    if (draft && draft.changes !== draft.saved) draft.rememberNow();
    if (document.visibilityState === "hidden") void draft?.saveIfTouched();
  };
  document.addEventListener("visibilitychange", keep);
  addEventListener("pagehide", keep);
  addEventListener("blur", () => void composition.value?.draft.saveIfTouched());
}

/** A blank message. @param {{ to?: Person[], accountId?: string | null }} [given] */
export function composeBlank({ to = [], accountId = null } = {}) {
  const from = accountId ?? accountHere();
  if (from === null) {
    toast("Connect a mail account first.");
    return;
  }
  const signature = signatureOf(from);
  const fields = { ...blankFields(from), to, html: bodyWith(signature.value ?? "") };
  void open(async () => ({ draft: new Draft(fields), focus: to.length ? "body" : "to", title: "New message",
    unsigned: signature.value === null }));
}

/**
 * @param {AnswerKind} kind
 * @param {string} threadId
 * @param {string} [messageId] the newest one, unless it is named
 */
export async function composeAnswer(kind, threadId, messageId) {
  const what = kind === "forward" ? "Forward" : kind === "reply" ? "Reply" : "Reply to all";
  await open(async () => {
    const prepared = await query("mail.prepare", { threadId, kind, ...(messageId !== undefined && { messageId }) });
    rememberQuote(prepared.quote, prepared.quotedHtml);
    signatureOf(prepared.accountId).value = prepared.signature;
    const fields = fromPrepared(prepared, kind === "forward" ? null : threadId);
    fields.html = bodyWith(prepared.signature);
    return { draft: new Draft(fields), focus: fields.to.length ? "body" : "to", title: what };
  });
}

/** @param {string} id */
export async function openDraft(id) {
  if (composition.value?.draft.id === id) {
    minimised.value = false;
    return;
  }
  await open(async () => {
    const found = await query("mail.draft", { id });
    if (found.quote) void quotedHtmlOf(found.quote);
    const draft = new Draft(fromDraft(found), { id: found.id, version: found.version, notes: found.notes });
    draft.rememberNow();
    return { draft, focus: found.to.length ? "body" : "to", title: titleOf(found) };
  });
}

/** Continue a draft of the mailbox, which another program began. @param {string} messageId */
export async function continueDraft(messageId) {
  try {
    const { draftId } = await mutate("mail.takeUpDraft", { messageId });
    await openDraft(draftId);
  } catch (error) {
    toast(`Could not open the draft: ${reason(error)}`, { tone: "error" });
  }
}

/** What a closed browser left open. @param {import("./remembered.js").Remembered} left */
export async function openLeft(left) {
  const { fields, id } = left;
  if (!fields) {
    forget(left.key);
    if (id !== null) await openDraft(id);
    return;
  }
  await open(async () => {
    if (fields.quote) void quotedHtmlOf(fields.quote);
    const draft = new Draft(fields, { id, version: left.version, key: left.key, dirty: true });
    return { draft, focus: "body", title: titleOf(fields) };
  });
}

/** Take a message back that has not left yet, and go on writing it. @param {string} id of the outgoing */
export async function bringBack(id) {
  try {
    const draftId = await takeBack(id);
    if (draftId !== null) await openDraft(draftId);
    else toast("An earlier attempt may have sent it: it stands under Tasks.");
  } catch (error) {
    const late = error instanceof RpcError && error.code === "CONFLICT";
    toast(late ? "Too late: it is on its way already." : `Could not take it back: ${reason(error)}`, { tone: "error" });
  }
}

/** Go on with what was not sent: it is put away, and its words are a draft. @param {string} id of the outgoing */
export async function rewrite(id) {
  try {
    const draftId = await dismiss(id, true);
    if (draftId !== null) await openDraft(draftId);
  } catch (error) {
    toast(`Could not open it: ${reason(error)}`, { tone: "error" });
  }
}

/** Close the window; what is in it stays a draft, unless it is to be dropped. @param {{ drop?: boolean }} [how] */
export async function closeComposer({ drop = false } = {}) {
  const current = composition.value;
  if (!current) return;
  const { draft } = current;
  const touched = !drop && (draft.id !== null || draft.changes > 0);
  const kept = !touched || (await draft.saveIfTouched());
  if (composition.value !== current) return;
  if (!kept) return; // the window says why, and the words stay where they are
  shut(current);
  if (touched) toast("Kept as a draft.", { action: { label: "Continue", run: () => void openDraft(draft.id ?? "") } });
}

/** Throw the message away. The draft itself goes a while later, so that it can be brought back whole, files and all. */
export async function discard() {
  const current = composition.value;
  if (!current) return;
  const { draft } = current;
  const fields = draft.fields.value;
  shut(current);
  while (draft.running) await draft.running;
  const { id, version } = draft;
  if (id === null && draft.changes === 0) return;
  if (id !== null) hideDraft(id, true);
  const timer = setTimeout(() => void deleteDraft(id), DELETE_AFTER_MS);
  const back = () => {
    clearTimeout(timer);
    if (id !== null) hideDraft(id, false);
    void open(async () => ({ draft: new Draft(fields, { id, version, dirty: true }), focus: "body",
      title: titleOf(fields) }));
  };
  toast("Draft deleted.", { action: { label: "Undo", run: back } });
}

/** @param {string | null} id */
async function deleteDraft(id) {
  if (id === null) return;
  try {
    await mutate("mail.deleteDraft", { id });
  } catch (error) {
    if (error instanceof RpcError && error.code === "NOT_FOUND") return;
    hideDraft(id, false);
    toast(`Could not delete the draft: ${reason(error)}`, { tone: "error" });
  }
}

/**
 * Hand the message over for sending. Resolves to the answer, or to null when it did not go: the window stays and says
 * why.
 * @param {string} [sendAt]
 */
export async function handOver(sendAt) {
  const current = composition.value;
  if (!current) return null;
  const { draft } = current;
  const saved = (await draft.save()) && draft.id !== null;
  if (!saved && !(draft.state.value === "failed" && mayGoLater(draft.failure))) return null;
  const answer = await handOverLater({ fields: draft.fields.value, id: draft.id, version: draft.version }, sendAt,
    OPENING);
  if (composition.value === current) shut(current);
  return answer;
}

/** Go on writing what was handed over and did not leave. @param {import("./waiting.js").Written} written */
function openWritten({ fields, id, version }) {
  void open(async () => ({ draft: new Draft(fields, { id, version, dirty: true }), focus: "body",
    title: titleOf(fields) }));
}

const OPENING = { openDraft: (/** @type {string} */ id) => void openDraft(id), openWritten };

/** @param {() => Promise<Composition>} make */
async function open(make) {
  if (preparing.value) return;
  if (!composition.value) before = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  preparing.value = true;
  try {
    await putAside();
    const made = await make();
    batch(() => {
      composition.value = made;
      minimised.value = false;
      preparing.value = false;
    });
  } catch (error) {
    preparing.value = false;
    toast(`Could not open the message: ${reason(error)}`, { tone: "error" });
    if (!composition.value) giveFocusBack();
  }
}

/** Another message is begun: the open one becomes a draft, or there is no other one. */
async function putAside() {
  const current = composition.value;
  if (!current) return;
  if (!(await current.draft.saveIfTouched())) throw new Error("the one that is open could not be saved.");
  const touched = current.draft.id !== null;
  current.draft.close();
  composition.value = null;
  if (touched) toast("Your other message is kept under Drafts.");
  void loadDrafts();
}

/** @param {Composition} current */
function shut(current) {
  current.draft.close();
  composition.value = null;
  minimised.value = false;
  giveFocusBack();
  void loadDrafts();
}

/** To where it was, or to what stands there now; the page's keys work again from there. */
function giveFocusBack() {
  const old = before;
  before = null;
  queueMicrotask(() => {
    if (old?.isConnected && old !== document.body && old.checkVisibility()) old.focus({ preventScroll: true });
    else if (mailPlace.value?.threadId === null) select(selectedId.value, { focus: true });
    else document.querySelector(/** @type {"h1"} */ ("h1[tabindex]"))?.focus({ preventScroll: true });
  });
}

/** The account of the tab, else the first that can send. */
function accountHere() {
  const here = mailPlace.value?.accountId ?? null;
  const able = (accounts.value ?? [])
    .filter((one) => one.state !== "disconnected" && one.provider !== "local" && one.access !== "read");
  return (able.find((one) => one.id === here) ?? able[0])?.id ?? null;
}

/** @param {{ subject: string }} draft */
function titleOf({ subject }) {
  return subject || "New message";
}

/** @param {unknown} error */
function reason(error) {
  return error instanceof Error ? error.message : String(error);
}
