// @ts-check
/** A dialog that is open as long as it is in the document. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

/** @param {{ id: string, title: string, close: () => void, children?: unknown }} props */
export function Dialog({ id, title, close, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return html`<dialog class="page-dialog" ref=${dialog} aria-labelledby=${id} onClose=${close}>
    <div class="dialog-head">
      <h2 id=${id}>${title}</h2>
      <button class="icon-button" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
    </div>
    ${children}
  </dialog>`;
}
