// @ts-check
/** The fields above the text: From, the recipients, and the subject. */
import { useState } from "preact/hooks";
import { html } from "../../ui/html.js";
import { CannotSend, From } from "./from.js";
import { Recipients } from "./recipients.js";
import { Together } from "./together.js";

/**
 * @param {{ draft: import("./draft.js").Draft, signatureWanted: () => void, subject?: boolean, grown?: () => void
 * }} props `subject`: shown; `grown`: the person added a line
 */
export function Fields({ draft, signatureWanted, subject = true, grown = () => {} }) {
  const fields = draft.fields.value;
  const [copies, setCopies] = useState(false);
  const [blind, setBlind] = useState(false);
  const [carried, setCarried] = useState(false);
  const cc = carried || copies || fields.cc.length > 0;
  const bcc = carried || blind || fields.bcc.length > 0;
  const from = (/** @type {import("./from.js").Sender} */ sender) => {
    if (sender.accountId !== fields.accountId) signatureWanted();
    draft.write(sender);
  };
  const lines = /** @type {const} */ (["to", "cc", "bcc"]);
  const give = (/** @type {string} */ address, /** @type {typeof lines[number]} */ target) => {
    const now = draft.fields.value;
    const person = [...now.to, ...now.cc, ...now.bcc].find((one) => one.address === address);
    if (!person) return;
    const without = lines.map((line) => [line, now[line].filter((one) => one.address !== address)]);
    const lists = Object.fromEntries(without);
    draft.write({ ...lists, [target]: [...lists[target], person] });
  };
  const add = (/** @type {typeof lines[number]} */ name, /** @type {(on: boolean) => void} */ show) => () => {
    show(true);
    requestAnimationFrame(() => document.getElementById(`compose-${name}`)?.focus());
    grown();
  };
  const line = (/** @type {typeof lines[number]} */ name, /** @type {string} */ label, /** @type {unknown} */ more) =>
    html`<${Recipients} id=${`compose-${name}`} key=${name} label=${label} people=${fields[name]}
      change=${(/** @type {Person[]} */ people) => draft.write({ [name]: people })}
      take=${(/** @type {string} */ address) => give(address, name)}
      move=${(/** @type {Person} */ person, /** @type {1 | -1} */ step) => {
        const target = lines[lines.indexOf(name) + step];
        if (!target) return;
        give(person.address, target);
        focusChip(`compose-${target}`, person.address);
      }}>${more}</${Recipients}>`;
  // While a chip is dragged, every line is shown as a target. A browser ends a drag if the page changes at its start.
  const carry = (/** @type {boolean} */ on) => setTimeout(() => setCarried(on));
  return html`<div class="compose-fields" onDragStart=${() => carry(true)} onDragEnd=${() => carry(false)}
    onDrop=${() => carry(false)}>
    <${From} sender=${fields} change=${from} />
    <${CannotSend} sender=${fields} />
    ${line("to", "To", html`
      <${Together} to=${fields.to} others=${[...fields.cc, ...fields.bcc]}
        add=${(/** @type {Person[]} */ people) => draft.write({ to: [...draft.fields.value.to, ...people] })} />
      ${!cc && html`<button type="button" class="copies" onClick=${add("cc", setCopies)}>Cc</button>`}
      ${!bcc && html`<button type="button" class="copies" onClick=${add("bcc", setBlind)}>Bcc</button>`}`)}
    ${cc && line("cc", "Cc", null)}
    ${bcc && line("bcc", "Bcc", null)}
    ${subject && html`<div class="compose-line">
      <label for="compose-subject">Subject</label>
      <input id="compose-subject" type="text" maxlength="900" dir="auto" spellcheck=${true}
        lang=${navigator.language} value=${fields.subject}
        onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) =>
          draft.write({ subject: event.currentTarget.value })} />
    </div>`}
  </div>`;
}

/** Focuses a chip once it is in its new line. @param {string} id of the line's field @param {string} address */
function focusChip(id, address) {
  requestAnimationFrame(() => {
    const line = document.getElementById(id)?.closest(".recipients");
    const chip = line?.querySelector(`[data-address="${CSS.escape(address)}"]`);
    if (chip instanceof HTMLElement) chip.focus();
  });
}
