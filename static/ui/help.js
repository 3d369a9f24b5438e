// @ts-check
/** The `?` overlay: every shortcut that works now, read from the registry. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { scopes } from "../keys.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";
import { keyNames } from "./key_words.js";

export const helpOpen = signal(false);

export function HelpOverlay() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const open = helpOpen.value;
  useLayoutEffect(() => {
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
  return html`<div class="help-body">
    <div class="dialog-head">
      <h2 id="help-title">Keyboard shortcuts</h2>
      <button class="icon-button" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
    </div>
    ${scopes.value.toReversed().flatMap(partsOf).map(({ title, lines }) => html`<section key=${title}>
      <h3>${title}</h3>
      <dl>
        ${lines.map(({ label, keys }) => html`<div key=${label}>
          <dt>${label}</dt>
          <dd>${keys.flatMap(keyNames).map((name) => html`<kbd key=${name}>${name}</kbd>`)}</dd>
        </div>`)}
      </dl>
    </section>`)}
    <p class="help-note">Shortcuts rest while you type in a field. <a href="/settings/keys" onClick=${close}>Change
      keys</a></p>
  </div>`;
}

/**
 * The parts of a scope, each with a line per command and its keys. Commands without keys are left out.
 * @param {{ title: string, shortcuts: readonly import("../keys.js").Named[] }} scope
 */
function partsOf({ title, shortcuts }) {
  const parts = [...new Set(shortcuts.map(({ part }) => part))];
  return parts.map((part) => {
    const ones = shortcuts.filter((one) => one.part === part);
    const labels = [...new Set(ones.map(({ label }) => label))];
    return {
      title: part ? `${title}: ${part}` : title,
      lines: labels.map((label) => ({ label, keys: ones.flatMap((one) => (one.label === label ? one.keys : [])) }))
        .filter(({ keys }) => keys.length > 0),
    };
  });
}

function close() {
  helpOpen.value = false;
}
