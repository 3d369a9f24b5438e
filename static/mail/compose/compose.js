// @ts-check
/** The face of this folder: what the app and the mail page need of writing mail. */
import { effect } from "@preact/signals";
import { address, navigate } from "../../router.js";
import { me } from "../../session.js";
import { mailPlace } from "../address.js";
import { loadOutgoing } from "../../tasks/outgoing.js";
import { composeAnswer, composeBlank, startComposer } from "./composer.js";
import { loadDrafts } from "./drafts.js";
import { offerLeftOpen } from "./notices.js";
import { rememberFor } from "./remembered.js";

export { AnswerBar, ComposeBar } from "./bar.js";
export { bringBack, composeAnswer, composeBlank, continueDraft, openDraft } from "./composer.js";
export { onDraftEvent } from "./drafts.js";
export { SendingNotices } from "./notices.js";
export { ComposeDock } from "./window.js";

/** Called once. */
export function startCompose() {
  startComposer();
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
    if (id !== null) void composeAnswer(kind, id);
  };
  return [
    { keys: ["c"], label: "Write a new message", run: () => composeBlank({ accountId: accountHere() }) },
    { keys: ["r"], label: "Reply", run: answer("reply") },
    { keys: ["a"], label: "Reply to all", run: answer("replyAll") },
    { keys: ["f"], label: "Forward", run: answer("forward") },
  ];
}
