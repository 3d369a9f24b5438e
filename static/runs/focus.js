// @ts-check
/** Moves the focus by key between elements of one kind. */

/** @param {string} selector @param {1 | -1} step from the element with the focus; without one, the first gets it */
export function focusNext(selector, step) {
  const all = /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]);
  const at = all.findIndex((one) => one === document.activeElement);
  const next = at === -1 ? 0 : Math.min(Math.max(at + step, 0), all.length - 1);
  all[next]?.focus();
}
