// @ts-check
/**
 * Moves the message that is being written: under its message, into the window and back. Also handles a change of the
 * page.
 */
import { effect } from "@preact/signals";
import { navigate } from "../../router.js";
import { mailPath, mailPlace } from "../address.js";
import { opened } from "../details.js";
import { currentAccountId, currentView, openId } from "../moving.js";
import { select } from "../selection.js";
import { composition, full, inside, minimised, place } from "./current.js";

/** @typedef {import("./current.js").Composition} Composition */

/** Opens the thread of an answer, unless it is open. Only where mail is shown. @param {string} threadId */
export function toThread(threadId) {
  if (mailPlace.value === null) return false;
  if (openId() !== threadId) {
    select(threadId);
    navigate(mailPath(currentAccountId(), threadId, currentView()), { replace: openId() !== null });
  }
  return true;
}

/**
 * Whether the answer is shown under this message; an answer without a message is shown under the last.
 * @param {import("./current.js").About | null} about
 * @param {string} messageId
 * @param {boolean} last
 */
export function standsUnder(about, messageId, last) {
  if (!about) return false;
  if (about.messageId === messageId) return true;
  return last && !(opened.value?.detail?.messages ?? []).some(({ id }) => id === about.messageId);
}

/** Moves it into the window, or back under its message, with the caret at the same place. */
export function popOut() {
  const current = composition.value;
  if (!current) return;
  if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur(); // adds the typed text
  if (place.value === "inline") toWindow(current);
  else if (current.about && toThread(current.about.threadId)) {
    current.entering = inside.value = true;
    full.value = minimised.value = false;
    place.value = "inline";
  }
}

export function fullScreen() {
  if (place.value === "inline") popOut();
  full.value = !full.value;
}

/** @param {Composition} current */
function toWindow(current) {
  current.entering = false;
  place.value = "window";
}

/**
 * Follows the page: when the person leaves the thread, the answer is saved as a draft; if that fails it stays visible.
 * Called once.
 * @param {(current: Composition) => Promise<boolean>} keep resolves to whether it is closed
 */
export function startPlaces(keep) {
  effect(() => {
    const current = composition.value;
    const there = mailPlace.value?.threadId ?? null;
    const shown = opened.value;
    if (!current?.about || place.value !== "inline") return;
    if (there === current.about.threadId) {
      const lost = shown?.id === there && (shown.gone || (shown.problem !== null && !shown.detail));
      if (lost) queueMicrotask(() => toWindow(current));
    } else if (shown?.id === current.about.threadId && shown.detail && shown.detail.thread.id === there) {
      current.about.threadId = there; // the thread was merged into another
    } else queueMicrotask(() => void leave(current, keep));
  });
}

/** @param {Composition} current @param {(current: Composition) => Promise<boolean>} keep */
async function leave(current, keep) {
  const isLeft = () => composition.value === current && place.value === "inline"
    && mailPlace.value?.threadId !== current.about?.threadId;
  if (!isLeft()) return;
  const kept = current.uploads.underWay === 0 && (await keep(current));
  if (!kept && isLeft()) toWindow(current);
}
