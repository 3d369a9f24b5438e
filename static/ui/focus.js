// @ts-check
/**
 * Moves the focus if a step removes the element that had it. Otherwise no element has the focus, and a screen reader
 * and Tab begin at the top.
 */
import { announce } from "./announce.js";

/** After this many frames, the elements that a step removes are gone. */
const LEAVING_FRAMES = 30;

/** Whether no element in particular has the focus. */
export function isAtNothing() {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || activeElement.matches("main");
}

/** The content of the page gets the focus. */
export function focusContent() {
  const main = document.querySelector("main");
  if (!main) return;
  main.tabIndex = -1;
  main.focus({ preventScroll: true });
}

/**
 * Gives the focus to the content if a step leaves it nowhere. First it waits until late parts have come, until the
 * dialog in which the step was chosen has closed, and until the element that had the focus is gone.
 * @param {{ told?: boolean }} [how] `told`: screen readers are also told the page's name
 */
export function keepFocus({ told = false } = {}) {
  const before = document.activeElement;
  let frames = LEAVING_FRAMES;
  requestAnimationFrame(function look() {
    const comes = document.querySelector("[data-late]") !== null;
    const stays = document.activeElement === before && before !== document.body && frames-- > 0;
    requestAnimationFrame(comes || stays ? look : () => {
      if (document.activeElement !== document.body) return;
      focusContent();
      if (told) announce(document.title.replace(/^\(\d+\) /, "").replace(/ – svc$/, ""));
    });
  });
}
