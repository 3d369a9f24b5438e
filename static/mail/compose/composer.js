// @ts-check
/**
 * The one message that is being written, if any: starting, closing, sending, discarding and restoring it.
 *
 * When it closes, the focus returns to where it was, or to the message that was answered. Starting another message
 * keeps the open one as a draft.
 */
import { batch, effect, signal } from "@preact/signals";
import { Uploads } from "../../files/uploads.js";
import { keyboardTaken } from "../../keys.js";
import { RpcError, mutate, query } from "../../rpc.js";
import { mailPlace } from "../address.js";
import { dismiss, takeBack } from "../../tasks/outgoing.js";
import { toast } from "../../ui/toast.js";
import { accounts } from "../accounts.js";
import { connectOpen } from "../connect.js";
import { select, selectedId } from "../selection.js";
import { forgetTyped, loseTyped, pasteAhead, stopResting, typeAhead } from "./ahead.js";
import { composing, composition, fetching, full, inside, minimised, opening, place, preparing } from "./current.js";
import { deleteAtLast, deleteSoon } from "./deleting.js";
import { Draft } from "./draft.js";
import { drafts, loadDrafts } from "./drafts.js";
import { startPlaces, toThread } from "./places.js";
import { quotedHtmlOf, rememberQuote } from "./quotes.js";
import { forget } from "./remembered.js";
import { bodyWith, signatureOf } from "./signature.js";
import { handOverLater, mayGoLater, startRefusedMail } from "./waiting.js";
import { blankFields, fromDraft, fromPrepared } from "./wire.js";

/** @typedef {import("./current.js").Composition} Composition */

/** The element that had the focus before the window. @type {HTMLElement | null} */
let before = null;

/** Called once. */
export function startComposer() {
  startRefusedMail(OPENING);
  startPlaces(async (current) => {
    if (current.handing) {
      inside.value = false;
      await current.handing;
      return composition.value !== current; // one that was refused says why
    }
    if (!(await current.draft.saveIfTouched())) return false;
    if (composition.value === current && mailPlace.value?.threadId !== current.about?.threadId) {
      shut(current, { focus: false });
    }
    return true;
  });
  effect(() => {
    keyboardTaken.value = composing.value;
  });
  addEventListener("keydown", (event) => {
    if (preparing.value || composition.value?.entering) typeAhead(event);
  });
  addEventListener("paste", (event) => {
    if (preparing.value || composition.value?.entering) pasteAhead(event);
  });
  const keep = () => {
    const draft = composition.value?.draft;
    if (draft && draft.changes !== draft.saved) draft.rememberNow();
    if (document.visibilityState === "hidden") void draft?.saveIfTouched();
  };
  document.addEventListener("visibilitychange", keep);
  addEventListener("pagehide", () => {
    keep();
    deleteAtLast();
  });
  addEventListener("blur", () => void composition.value?.draft.saveIfTouched());
}

/**
 * A blank message.
 * @param {{ to?: Person[], accountId?: string | null, snippet?: Composition["snippet"] }} [given]
 */
export function composeBlank({ to = [], accountId = null, snippet = null } = {}) {
  const from = accountId ?? accountHere();
  if (from === null) {
    const none = !accounts.value?.length;
    toast(none ? "Connect a mailbox first: there is none to write from." : "None of the mailboxes here can send.",
      none ? {} : { action: { label: "Connect one", run: () => { connectOpen.value = true; } } });
    return;
  }
  const signature = signatureOf(from);
  const fields = { ...blankFields(from), to, html: bodyWith(signature.value ?? "") };
  void open(async () => ({ ...begun(fields, {}, null), focus: to.length ? "body" : "to", title: "New message",
    unsigned: signature.value === null, snippet }));
}

/**
 * Answers under the message; resolves to whether it is open. An answer that was already begun continues; with "reply to
 * all" it gets all recipients.
 * @param {AnswerKind} kind @param {string} threadId
 * @param {string} [messageId] without it, the newest one
 * @param {{ words?: string, onOpened?: () => void }} [own] `words`: HTML that it begins with; `onOpened`: called once
 *   it has them, also after *Try again*
 */
export async function composeAnswer(kind, threadId, messageId, { words = "", onOpened = () => {} } = {}) {
  const what = kind === "forward" ? "Forward" : kind === "reply" ? "Reply" : "Reply to all";
  return await open(async () => {
    toThread(threadId);
    const prepared = await query("mail.prepare", { threadId, kind, ...(messageId !== undefined && { messageId }) });
    rememberQuote(prepared.quote, prepared.quotedHtml);
    signatureOf(prepared.accountId).value = prepared.signature;
    const fields = fromPrepared(prepared, kind === "forward" ? null : threadId);
    const before = drafts.value.find(({ quote }) => quote?.messageId === prepared.quote?.messageId
      && quote?.kind === prepared.quote?.kind);
    if (before) {
      const made = await openedDraft(before.id);
      if (kind === "replyAll") addEverybody(made.draft, fields);
      if (words) made.draft.write({ html: words + made.draft.fields.value.html });
      onOpened();
      return made;
    }
    fields.html = words + bodyWith(prepared.signature);
    const about = { threadId, messageId: prepared.quote?.messageId ?? messageId ?? null };
    onOpened();
    return { ...begun(fields, { dirty: words !== "" }, about), focus: fields.to.length ? "body" : "to", title: what };
  });
}

/**
 * Adds the recipients of an answer to all that the draft does not have.
 * @param {Draft} draft
 * @param {import("./wire.js").Fields} all
 */
function addEverybody(draft, all) {
  const { to, cc, bcc } = draft.fields.value;
  const known = new Set([...to, ...cc, ...bcc].map(({ address }) => address.toLowerCase()));
  const missing = [...all.to, ...all.cc].filter(({ address }) => !known.has(address.toLowerCase()));
  if (missing.length) draft.write({ cc: [...cc, ...missing] });
}

/** @param {string} id */
export async function openDraft(id) {
  if (composition.value?.draft.id === id) {
    minimised.value = false;
    focusAnswer();
    return;
  }
  await open(() => openedDraft(id));
}

/** @param {string} id @returns {Promise<Composition>} */
async function openedDraft(id) {
  const found = await query("mail.draft", { id });
  if (found.quote) void quotedHtmlOf(found.quote);
  const { threadId, quote } = found;
  const about = threadId === null ? null : { threadId, messageId: quote?.messageId ?? null };
  const made = begun(fromDraft(found), { id: found.id, version: found.version, notes: found.notes }, about);
  made.draft.rememberNow();
  return { ...made, focus: found.to.length ? "body" : "to", title: titleOf(found) };
}

/** Continues a draft of the mailbox that another program began. @param {string} messageId */
export async function continueDraft(messageId) {
  try {
    const { draftId } = await whileKeysRest(mutate("mail.takeUpDraft", { messageId }));
    await openDraft(draftId);
  } catch (error) {
    toast(`Could not open the draft: ${reason(error)}`, { tone: "error" });
  }
}

/** Opens a message that was open when the browser closed. @param {import("./remembered.js").Remembered} left */
export async function openLeft(left) {
  const { fields, id, version, key, making } = left;
  if (!fields) {
    forget(key);
    if (id !== null) await openDraft(id);
    return;
  }
  await open(async () => {
    if (fields.quote) void quotedHtmlOf(fields.quote);
    return begun(fields, { id, version, key, making, dirty: true }, aboutOf(fields));
  });
}

/**
 * Takes back a message that was not sent yet, and continues it. Resolves to whether that worked.
 * @param {string} id of the outgoing @param {() => void} [first] runs before it is shown, once it is taken back
 */
export async function bringBack(id, first = () => {}) {
  try {
    const draftId = await whileKeysRest(takeBack(id));
    if (draftId !== null) first();
    if (draftId !== null) await openDraft(draftId);
    else toast("An earlier attempt may have sent it: see Tasks.");
    return draftId !== null;
  } catch (error) {
    const late = error instanceof RpcError && error.code === "CONFLICT";
    toast(late ? "Too late: it is on its way already." : `Could not take it back: ${reason(error)}`, { tone: "error" });
    return false;
  }
}

/**
 * Continues a message that was not sent: the outgoing mail is dismissed, and its text becomes a draft.
 * @param {string} id of the outgoing
 */
export async function rewrite(id) {
  try {
    const draftId = await whileKeysRest(dismiss(id, true));
    if (draftId !== null) await openDraft(draftId);
  } catch (error) {
    toast(`Could not open it: ${reason(error)}`, { tone: "error" });
  }
}

/**
 * Closes the message; its content stays as a draft, unless `drop` is set. Under a message a line shows the draft.
 * @param {{ drop?: boolean }} [how]
 */
export async function closeComposer({ drop = false } = {}) {
  const current = composition.value;
  if (!current || staysForSending(current)) return;
  const { draft } = current;
  draft.dropPictures();
  const touched = !drop && (draft.id !== null || draft.changes > 0);
  const kept = !touched || (await draft.saveIfTouched());
  if (composition.value !== current) return;
  if (!kept) { // it shows the reason and stays open; under a message the keys of the thread work again
    if (place.value === "inline") focusMessage(current);
    return;
  }
  const quiet = place.value === "inline";
  shut(current);
  if (!touched || quiet) return;
  toast("Kept as a draft.", { action: { label: "Continue", run: () => void openDraft(draft.id ?? "") } });
}

/**
 * Discards the message. The draft itself is deleted a while later, so that it can be restored completely, with its
 * files.
 */
export async function discard() {
  const current = composition.value;
  if (!current || staysForSending(current)) return;
  const { draft, about } = current;
  const fields = draft.fields.value;
  shut(current);
  while (draft.running) await draft.running;
  const { id, version, making } = draft;
  if (id === null && draft.changes === 0) return;
  deleteSoon(id, () => void open(async () => begun(fields, { id, version, making, dirty: true }, about)));
}

/** Discards a draft of the list. @param {string} id */
export function discardKept(id) {
  if (composition.value?.draft.id === id) void discard();
  else deleteSoon(id, () => undefined);
}

/**
 * Passes the message to the server for sending. Resolves to the answer, or to null if that failed: the message stays
 * open and shows the reason.
 * @param {string} [sendAt]
 * @param {string} [group] of the steps that are undone with it
 */
export async function handOver(sendAt, group) {
  const current = composition.value;
  if (!current) return null;
  const answer = passOn(current, sendAt, group);
  current.handing = answer.catch(() => undefined);
  try {
    return await answer;
  } finally {
    current.handing = null;
  }
}

/**
 * Whether it must stay open: a draft that is kept or deleted now goes out all the same, and only here a refusal shows.
 * @param {Composition} current
 */
function staysForSending({ handing }) {
  if (handing) toast("It is being sent.");
  return Boolean(handing);
}

/**
 * @param {Composition} current
 * @param {string | undefined} sendAt
 * @param {string | undefined} group
 */
async function passOn(current, sendAt, group) {
  const { draft } = current;
  draft.dropPictures();
  const fields = draft.fields.value; // keys that are pressed during the save are not meant for the message
  const saved = (await draft.save()) && draft.id !== null;
  if (!saved && !(draft.state.value === "failed" && mayGoLater(draft.failure))) return null;
  const written = { fields, id: draft.id, version: draft.version };
  const how = {
    ...(sendAt !== undefined && { sendAt }), ...(group !== undefined && { group }),
    ...(saved && draft.version !== null && { draftVersion: draft.version }),
  };
  const answer = await handOverLater(written, how, OPENING).catch((why) => {
    draft.refused(why);
    throw why;
  });
  if (composition.value === current) shut(current);
  return answer;
}

/** Continues a message that was passed on but not sent. @param {import("./waiting.js").Written} written */
function openWritten({ fields, id, version }) {
  void open(async () => begun(fields, { id, version, dirty: true }, aboutOf(fields)));
}

const OPENING = { openDraft: (/** @type {string} */ id) => void openDraft(id), openWritten };

/**
 * Waits for the draft that opens next; null: none does. Who asked for it may type at once: it goes into the draft.
 * @template Answer @param {Promise<Answer>} answer
 */
async function whileKeysRest(answer) {
  stopResting();
  fetching.value += 1;
  try {
    const found = await answer;
    if (found === null) loseTyped();
    return found;
  } catch (error) {
    loseTyped();
    throw error;
  } finally {
    fetching.value -= 1;
  }
}

/** Resolves to whether it is open. @param {() => Promise<Composition>} make */
async function open(make) {
  if (opening.value) return false;
  if (!composition.value) before = document.activeElement instanceof HTMLElement ? document.activeElement : null;
  opening.value = true;
  fetching.value += 1;
  stopResting();
  try {
    await putAside();
    const made = await make();
    const inline = made.about !== null && toThread(made.about.threadId);
    made.entering = inline;
    batch(() => {
      composition.value = made;
      place.value = inline ? "inline" : "window";
      inside.value = inline;
      minimised.value = full.value = false;
    });
    return true;
  } catch (error) {
    const typed = loseTyped({ always: true });
    const again = () => {
      if (opening.value) return;
      typed.giveBack();
      void open(make);
    };
    toast(`Could not open the message: ${reason(error)}`,
      { tone: "error", action: { label: "Try again", run: again }, stays: true });
    if (!composition.value) giveFocusBack();
    return false;
  } finally {
    fetching.value -= 1;
    opening.value = false;
  }
}

/** Before another message starts: keeps the open one as a draft. If that fails, no other message starts. */
async function putAside() {
  const current = composition.value;
  if (!current) return;
  if (current.handing) {
    await current.handing;
    if (composition.value === current) throw new Error("the one that is open was not sent.");
    return;
  }
  if (!(await current.draft.saveIfTouched())) throw new Error("the one that is open could not be saved.");
  if (current.uploads.underWay) throw new Error("files of the one that is open are still on their way.");
  const touched = current.draft.id !== null;
  current.draft.close();
  composition.value = null;
  if (touched && place.value === "window") toast("Your other message is kept under Drafts.");
  void loadDrafts();
}

/** @param {Composition} current @param {{ focus?: boolean }} [how] */
function shut(current, { focus = true } = {}) {
  const inline = place.value === "inline";
  current.draft.close();
  current.uploads.abort();
  if (!opening.value) forgetTyped(); // what is typed now is for the next message
  batch(() => {
    composition.value = null;
    minimised.value = full.value = inside.value = false;
  });
  if (focus && inline) focusMessage(current);
  else if (focus) giveFocusBack();
  void loadDrafts();
}

/** Focuses the message that was answered, so that the thread's keys work from there. @param {Composition} current */
function focusMessage({ about }) {
  inside.value = false;
  before = null;
  queueMicrotask(() => {
    const card = about?.messageId && document.querySelector(`[data-message="${CSS.escape(about.messageId)}"]`);
    const there = card || document.querySelector("h1[tabindex]");
    if (there instanceof HTMLElement) there.focus({ preventScroll: true });
  });
}

/** Gives the keyboard to the answer that is already open. */
function focusAnswer() {
  const field = document.querySelector(".answer-card .rich-text");
  if (place.value === "inline" && field instanceof HTMLElement) field.focus();
}

/** Returns the focus to where it was, or to its replacement, so that the page's keys work again from there. */
function giveFocusBack() {
  const old = before;
  before = null;
  queueMicrotask(() => {
    if (old?.isConnected && old !== document.body && old.checkVisibility()) old.focus({ preventScroll: true });
    else if (mailPlace.value?.threadId === null) select(selectedId.value, { focus: true });
    else document.querySelector(/** @type {"h1"} */ ("h1[tabindex]"))?.focus({ preventScroll: true });
  });
}

/**
 * @param {import("./wire.js").Fields} fields
 * @param {ConstructorParameters<typeof Draft>[1]} known
 * @param {import("./current.js").About | null} about
 * @returns {Composition}
 */
function begun(fields, known, about) {
  const draft = new Draft(fields, known);
  const uploads = new Uploads(({ id, name, mime, size }) => {
    const record = { fileId: id, filename: name, mime, size };
    draft.write({ attachments: [...draft.fields.value.attachments, record] });
  });
  return { draft, uploads, about, focus: "body", title: titleOf(fields), problem: signal("") };
}

/** The answered thread and message, as far as the fields name them. @param {import("./wire.js").Fields} fields */
function aboutOf({ replyTo, quote }) {
  return replyTo === null ? null : { threadId: replyTo, messageId: quote?.messageId ?? null };
}

/** The account of the current tab, else the first that can send. */
function accountHere() {
  const here = mailPlace.value?.accountId ?? null;
  const able = (accounts.value ?? [])
    .filter((one) => one.state !== "disconnected" && one.sends !== false && one.access !== "read");
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
