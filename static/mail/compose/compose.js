// @ts-check
/** The face of this folder: what the app and the mail page need of writing mail. */
import { effect } from "@preact/signals";
import { address, navigate } from "../../router.js";
import { me } from "../../session.js";
import { mailPlace } from "../address.js";
import { loadOutgoing } from "../../tasks/outgoing.js";
import { composeAnswer, composeBlank, startComposer } from "./composer.js";
import { composition } from "./current.js";
import { loadDrafts } from "./drafts.js";
import { offerLeftOpen } from "./notices.js";
import { popOut } from "./places.js";
import { rememberFor } from "./remembered.js";

export { AnswerBar, ComposeBar, shortName } from "./bar.js";
export { bringBack, composeAnswer, composeBlank, continueDraft, openDraft } from "./composer.js";
export { drafted, onDraftEvent } from "./drafts.js";
export { AnswerSlot } from "./slot.js";
export { SendingNotices } from "./notices.js";
export { ComposeDock } from "./window.js";

/** Called once. */
export function startCompose() {
  startComposer();
  followKeyboard();
  const stop = effect(() => {
    if (!me.value) return;
    rememberFor(me.value.user?.email ?? "");
    queueMicrotask(() => stop());
    void offerLeftOpen();
    answerAsAsked();
    void loadOutgoing();
  });
  addEventListener("focus", () => void loadDrafts());
}

/** An address with ?answer=reply, as a notice of new mail has it, opens a reply to its thread. */
function answerAsAsked() {
  effect(() => {
    const threadId = mailPlace.value?.threadId;
    if (!threadId || address.value.searchParams.get("answer") !== "reply") return;
    queueMicrotask(() => {
      navigate(location.pathname, { replace: true });
      void composeAnswer("reply", threadId);
    });
  });
}

/**
 * How much of the page a keyboard on the screen covers, for what must stand above it. Where the browser makes the page
 * smaller for it, that is nothing; a page that is zoomed in covers nothing either.
 */
function followKeyboard() {
  const view = window.visualViewport;
  if (!view) return;
  const follow = () => {
    const covered = view.scale > 1 ? 0 : Math.max(0, innerHeight - view.height - view.offsetTop);
    document.documentElement.style.setProperty("--keyboard", `${Math.round(covered)}px`);
  };
  view.addEventListener("resize", follow);
  view.addEventListener("scroll", follow);
}

/** There is a gap in the live updates. */
export function refetchCompose() {
  void loadDrafts();
}

/**
 * The keys of the mail page that begin a message.
 * @param {() => string | null} threadHere the open thread, or the selected one
 * @param {() => string | null} accountHere
 * @returns {import("../../keys.js").Shortcut[]}
 */
export function composeKeys(threadHere, accountHere) {
  const answer = (/** @type {AnswerKind} */ kind) => () => {
    const id = threadHere();
    if (id !== null) void composeAnswer(kind, id, messageHere());
  };
  return [
    { keys: ["c"], label: "Write a new message", run: () => composeBlank({ accountId: accountHere() }) },
    { keys: ["r"], label: "Reply", run: answer("reply") },
    { keys: ["a"], label: "Reply to all", run: answer("replyAll") },
    { keys: ["f"], label: "Forward", run: answer("forward") },
    { keys: ["Mod+enter"], label: "Send what is written", run: () => void composition.value?.send?.(), when: writing },
    { keys: ["Mod+Shift+enter"], label: "Send it, and archive the thread",
      run: () => void composition.value?.send?.(undefined, true), when: writing },
    { keys: ["Mod+Shift+l"], label: "Send it later", run: () => composition.value?.sendLater?.(), when: writing },
    { keys: ["Mod+Shift+p"], label: "Write in the window, or under the message again", run: popOut, when: writing },
  ];
}

const writing = () => composition.value !== null;

/** The message that has the focus, in a thread of several. */
function messageHere() {
  const card = document.activeElement?.closest("[data-message]");
  return card instanceof HTMLElement ? card.dataset.message : undefined;
}
