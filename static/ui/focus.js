// @ts-check
/** The focus where a step took away what had it: it would be nowhere, and a screen reader and Tab begin at the top. */
import { announce } from "./announce.js";

/** In so many frames, what a step takes away is gone. */
const LEAVING_FRAMES = 30;

/** Whether the person is at nothing in particular. */
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
 * Gives the focus to the content if a step leaves it nowhere. First it waits until parts that are loaded late have come,
 * until the dialog in which the step was chosen has closed, and until the element that had the focus is gone.
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
