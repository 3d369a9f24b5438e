// @ts-check
/** The `?` overlay: every shortcut that works now, read from the registry. */
import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { scopes } from "../keys.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";
import { keyNames } from "./key_words.js";

export const helpOpen = signal(false);

export function HelpOverlay() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const open = helpOpen.value;
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open && dialog.current?.open) dialog.current.close();
  }, [open]);
  return html`<dialog
    ref=${dialog}
    class="help"
    aria-labelledby="help-title"
    onClose=${close}
    onClick=${(/** @type {MouseEvent} */ event) => event.target === dialog.current && close()}
  >
    ${open && html`<${HelpBody} />`}
  </dialog>`;
}

function HelpBody() {
  const shown = scopes.value.toReversed();
  return html`<div class="help-body">
    <div class="dialog-head">
      <h2 id="help-title">Keyboard shortcuts</h2>
      <button class="icon-button" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
    </div>
    ${shown.map(
      (scope) => html`<section key=${scope.title}>
        <h3>${scope.title}</h3>
        <dl>
          ${scope.shortcuts.map(
            (one) => html`<div key=${one.label}>
              <dt>${one.label}</dt>
              <dd>${one.keys.flatMap(keyNames).map((name) => html`<kbd key=${name}>${name}</kbd>`)}</dd>
            </div>`,
          )}
        </dl>
      </section>`,
    )}
    <p class="help-note">Shortcuts rest while you type in a field. <a href="/settings/keys" onClick=${close}>Change
      keys</a></p>
  </div>`;
}

function close() {
  helpOpen.value = false;
}
