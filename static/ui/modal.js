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
  useLayoutEffect(() => {
    const mine = dialog.current;
    mine?.showModal();
    const at = location.href;
    const moved = () => {
      if (location.href !== at) close();
    };
    addEventListener("popstate", moved);
    return () => {
      removeEventListener("popstate", moved);
      mine?.close();
    };
  }, []);
  return html`<dialog
    ref=${dialog}
    class=${`modal ${name}`}
    aria-label=${label}
    onClose=${close}
    onClick=${(/** @type {MouseEvent} */ event) => event.target === dialog.current && close()}
  >${children}</dialog>`;
}
