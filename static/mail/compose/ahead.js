// @ts-check
/** What a person types or pastes while a message is being fetched. It goes into the message once that is shown. */

import { opening } from "./current.js";

const FIELDS = "input, textarea, select, [contenteditable]:not([contenteditable=false])";

/** After this long without a key, letters are commands again. */
const PAUSE_MS = 1_000;

let words = "";
/** Ends the time in which letters are no commands, because no message opened for them. */
let resting = () => {};
/** @type {File[]} */
let files = [];

/** Takes a key that no field has, so that the page does nothing with it. @param {KeyboardEvent} event */
export function typeAhead(event) {
  const { key } = event;
  const commands = (event.ctrlKey || event.metaKey || event.altKey) && !event.getModifierState("AltGraph");
  const isInField = event.target instanceof Element && event.target.closest(FIELDS);
  if (isInField || commands || event.defaultPrevented || event.isComposing || event.repeat) return;
  if (key.length === 1) words += key;
  else if (key === "Enter") words = words ? `${words}\n` : ""; // it must not press what has the focus, such as the row
  else if (key === "Backspace") words = words.slice(0, -1);
  else return;
  event.preventDefault();
}

/** Takes what is pasted where no field is. @param {ClipboardEvent} event */
export function pasteAhead(event) {
  const isInField = event.target instanceof Element && event.target.closest(FIELDS);
  if (isInField || event.defaultPrevented) return;
  words += event.clipboardData?.getData("text/plain") ?? "";
  files.push(...filesIn(event));
  event.preventDefault();
}

/**
 * The files of a paste. Office programs copy text as a picture, too; then the text is used.
 * @param {ClipboardEvent} event
 */
export function filesIn({ clipboardData }) {
  return clipboardData && !clipboardData.getData("text/plain") ? [...clipboardData.files] : [];
}

/** Gives the pasted files to the message that is shown first now, not to one that moves while the next one opens. */
export function pastedFiles() {
  if (opening.peek()) return [];
  const now = files;
  files = [];
  return now;
}

/** Types the words into the field that has the focus, unless they are for the message that opens next. */
export function typeNow() {
  if (opening.peek()) return;
  const now = words;
  words = "";
  if (now) document.execCommand("insertText", false, now);
}

export function forgetTyped() {
  words = "";
  files = [];
}

/**
 * No message opens. The person may still type for it, so letters are no commands until a pause; with `always`, even if
 * none was typed yet. `giveBack` gives the words and files to the message that opens now instead.
 * @param {{ always?: boolean }} [how]
 */
export function loseTyped({ always = false } = {}) {
  stopResting();
  const lost = { words, files };
  forgetTyped();
  if (lost.words || always) rest(lost);
  return { giveBack: () => {
    [words, files] = [lost.words, lost.files];
  } };
}

/** @param {{ words: string, files: File[] }} lost takes what is typed and pasted until the pause */
function rest(lost) {
  const more = (/** @type {KeyboardEvent | ClipboardEvent} */ event) => {
    if (event.target instanceof Element && event.target.closest(".toasts")) return; // such as "Try again"
    [words, files] = [lost.words, lost.files];
    if (event instanceof KeyboardEvent) typeAhead(event);
    else pasteAhead(event);
    [lost.words, lost.files] = [words, files];
    forgetTyped();
    if (event.defaultPrevented) wait();
  };
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(stopResting, PAUSE_MS);
  };
  let timer = setTimeout(stopResting, PAUSE_MS);
  addEventListener("keydown", more, { capture: true });
  addEventListener("paste", more, { capture: true });
  resting = () => {
    clearTimeout(timer);
    removeEventListener("keydown", more, { capture: true });
    removeEventListener("paste", more, { capture: true });
  };
}

/** Letters are commands again, or go into the message that opens now. */
export function stopResting() {
  resting();
  resting = () => {};
}
