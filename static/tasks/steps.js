// @ts-check
/**
 * Keyboard navigation on the page of tasks: from one item to the next, and keys for each row's buttons. Owns the
 * current position.
 */

/** The selector of the items. */
const TASK = ".tasks-frame [data-task]";

/** The position of the task that had the focus last: an action may remove the task. */
let last = -1;

/** @param {1 | -1} by */
export function step(by) {
  const all = tasks();
  const at = all.findIndex((one) => one.contains(document.activeElement));
  const next = at >= 0 ? at + by : last < 0 ? 0 : Math.min(last, all.length - 1);
  go(all, Math.max(0, Math.min(next, all.length - 1)));
}

/** @param {1 | -1} end */
export function stepToEnd(end) {
  const all = tasks();
  go(all, end > 0 ? 0 : all.length - 1);
}

/** Resets the position. */
export function beginSteps() {
  last = -1;
}

/** @param {string} action */
export function can(action) {
  return button(action) !== null;
}

/** Presses the button of an action; a button with a confirmation asks. @param {string} action */
export function press(action) {
  button(action)?.click();
}

/** @param {string} action @returns {HTMLElement | null} */
function button(action) {
  const task = tasks().find((one) => one.contains(document.activeElement));
  return task?.querySelector(`[data-action="${action}"]`) ?? null;
}

/** @returns {HTMLElement[]} */
function tasks() {
  return [...document.querySelectorAll(TASK)].filter((one) => one instanceof HTMLElement);
}

/** @param {HTMLElement[]} all @param {number} at */
function go(all, at) {
  last = at;
  all[at]?.focus();
  all[at]?.scrollIntoView({ block: "nearest" });
}
