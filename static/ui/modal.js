// @ts-check
/**
 * A modal dialog: it has the whole keyboard while it is in the document, and returns the focus when it is removed. It
 * closes when the browser's Back or Forward shows another page below it.
 */
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "./html.js";

/**
 * @param {{ label: string, class?: string, close: () => void, children?: unknown }} props `close`: removes it from the
 * document
 */
export function Modal({ label, class: name = "", close, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const newest = useRef(close);
  newest.current = close;
  useLayoutEffect(() => whileShown(/** @type {HTMLDialogElement} */ (dialog.current), () => newest.current()), []);
  return html`<dialog
    ref=${dialog}
    class=${`modal ${name}`}
    aria-label=${label}
    onClick=${(/** @type {MouseEvent} */ event) => event.target === dialog.current && close()}
  >${children}</dialog>`;
}

/**
 * Shows the dialog, and handles everything that closes it. Escape removes it at once, so that the next key goes to the
 * page below: the browser would close it too, but report that a moment later. Returns a function that closes it and
 * stops listening: a late report of the browser would close the same dialog if it is open again.
 * @param {HTMLDialogElement} dialog
 * @param {() => void} close
 */
function whileShown(dialog, close) {
  dialog.showModal();
  const at = location.href;
  const moved = () => {
    if (location.href !== at) close();
  };
  const asked = (/** @type {Event} */ event) => {
    if (event.target !== dialog) return; // a field for files has an event of this name, too
    event.preventDefault();
    close();
  };
  addEventListener("popstate", moved);
  dialog.addEventListener("cancel", asked);
  dialog.addEventListener("close", close);
  return () => {
    removeEventListener("popstate", moved);
    dialog.removeEventListener("cancel", asked);
    dialog.removeEventListener("close", close);
    dialog.close();
  };
}
