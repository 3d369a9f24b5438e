// @ts-check
/** The public interface of this folder: what the app and the mail page need for writing mail. */
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
export { bringBack, composeAnswer, composeBlank, continueDraft, discardKept, openDraft } from "./composer.js";
export { deleteDiscarded } from "./deleting.js";
export { drafted, onDraftEvent } from "./drafts.js";
export { AnswerSlot } from "./slot.js";
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

/** Opens a reply to the thread if the address has ?answer=reply, as in a notice of new mail. */
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

/** Fetches everything again, after a gap in the live updates. */
export function refetchCompose() {
  void loadDrafts();
}

/**
 * The keys of the mail page that start a message.
 * @param {() => string | null} threadHere the open thread, or the selected one
 * @param {() => string | null} accountHere
 * @returns {import("../../keys.js").Shortcut[]}
 */
export function composeKeys(threadHere, accountHere) {
  const answer = (/** @type {AnswerKind} */ kind) => () => {
    const id = threadHere();
    if (id !== null) void composeAnswer(kind, id, messageHere());
  };
  const here = () => threadHere() !== null;
  return [
    { keys: ["c"], label: "Write a new message", also: ["compose", "new mail"],
      run: () => composeBlank({ accountId: accountHere() }) },
    { keys: ["r"], label: "Reply", acts: true, also: ["answer"], run: answer("reply"), when: here },
    { keys: ["a"], label: "Reply to all", acts: true, also: ["answer"], run: answer("replyAll"), when: here },
    { keys: ["f"], label: "Forward", acts: true, run: answer("forward"), when: here },
  ];
}

/** These keys also work inside the text. */
const there = { when: () => composition.value !== null, fixed: true };

/** The keys while a message is being written. @type {import("../../keys.js").Shortcut[]} */
export const WRITING_KEYS = [
  { keys: ["Mod+enter"], label: "Send what is written", run: () => void composition.value?.send?.(), ...there },
  { keys: ["Mod+Shift+enter"], label: "Send it, and archive the thread",
    run: () => void composition.value?.send?.(undefined, true), ...there },
  { keys: ["Mod+Shift+l"], label: "Send it later", run: () => composition.value?.sendLater?.(), ...there },
  { keys: ["Mod+;"], label: "Put a snippet into it", run: () => composition.value?.chooseSnippet?.(), ...there },
  { keys: ["Mod+Shift+p"], label: "Write in the window, or under the message again", run: popOut, ...there },
];

/** The message with the focus, in a thread of several. */
function messageHere() {
  const card = document.activeElement?.closest("[data-message]");
  return card instanceof HTMLElement ? card.dataset.message : undefined;
}
