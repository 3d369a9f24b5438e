// @ts-check
/**
 * Sets one credential, and tests it with its service. The typed values are only in this form. The file from Google's
 * console can be pasted.
 */
import { useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { reasonOf } from "../settings/fetched.js";
import { CopyLine } from "../ui/copy.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { clientIn, flawOf } from "./client_json.js";

/** @typedef {OutputOf<"capabilities.list">[number]} Credential */

/** @param {{ credential: Credential, saved: () => void, close?: () => void, focused?: boolean }} props */
export function CredentialForm({ credential, saved, close, focused = true }) {
  const [values, setValues] = useState(/** @type {Record<string, string>} */ ({}));
  const { busy, problem, run } = useAction();
  const [flaw, setFlaw] = useState("");
  const { name, fields, callbacks } = credential;
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    void run(async () => {
      const given = Object.fromEntries(Object.entries(values).filter(([, text]) => text.trim()));
      const [only] = fields;
      await mutate("capabilities.set", { name, value: fields.length === 1 && only ? given[only.name] ?? "" : given });
      setValues({});
      saved();
    });
  };
  const type = (/** @type {string} */ field, /** @type {string} */ text) => {
    const client = callbacks.length ? clientIn(text) : null;
    setFlaw(client ? flawOf(client, callbacks) : "");
    setValues(client ? { ...values, id: client.id, secret: client.secret } : { ...values, [field]: text });
  };
  return html`<form class="credential-form" onSubmit=${submit} onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || !close) return;
    event.stopPropagation();
    close();
  }}>
    ${focused && html`<p class="fine">Where to get it: ${credential.obtain}</p>
      <${Callbacks} callbacks=${callbacks} />`}
    ${fields.map((field, index) => html`<label key=${field.name} class="field"><span>${field.label}</span>
      <input type=${field.secret ? "password" : "text"} autocomplete="off" spellcheck=${false} ref=${
        (/** @type {HTMLInputElement | null} */ input) => {
          if (index === 0 && focused && input && !input.dataset.focused) {
            input.dataset.focused = "yes";
            input.focus();
          }
        }} value=${values[field.name] ?? ""} onInput=${(/** @type {InputEvent} */ event) =>
          type(field.name, /** @type {HTMLInputElement} */ (event.target).value)} /></label>`)}
    ${callbacks.length > 0 && html`<p class="fine">Or paste all of the JSON file that the console offers to
      download into the first field.</p>`}
    ${flaw && html`<p class="form-problem" role="alert">${flaw}</p>`}
    <div class="credential-steps">
      <button class="button primary" type="submit" aria-busy=${busy}>Save</button>
      ${close && html`<button class="button" type="button" onClick=${close}>Cancel</button>`}
    </div>
    <p class="fine">It works at once, without a restart, and is not shown again. ${seeds(fields)}</p>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </form>`;
}

/** The addresses to register at the service. @param {{ callbacks: readonly string[] }} props */
export function Callbacks({ callbacks }) {
  return callbacks.map((one, index) => html`<${CopyLine} key=${one} text=${one}
    label=${index ? "the redirect URI for signing in" : "the redirect URI"} />`);
}

/** A note that a variable is used only while no value is stored. @param {Credential["fields"]} fields */
function seeds(fields) {
  const names = fields.map(({ setting }) => setting).filter(Boolean).join(", ");
  return names && `A variable of the environment (${names}) counts only where nothing is set yet.`;
}

/**
 * Tests the credential with the service, and shows the result. The caller gives it the credential's version as its key:
 * what a test told of the one before is not shown beside the new one.
 * @param {{ name: string, title: string, changed: () => void }} props
 */
export function TestButton({ name, title, changed }) {
  const [told, setTold] = useState(/** @type {OutputOf<"capabilities.test"> | null} */ (null));
  const [busy, setBusy] = useState(false);
  const test = async () => {
    if (busy) return;
    setBusy(true);
    try {
      setTold(await mutate("capabilities.test", { name }));
    } catch (error) {
      setTold({ ok: false, message: reasonOf(error), remedy: "" });
    }
    setBusy(false);
    changed();
  };
  return html`<button class="button small" type="button" aria-busy=${busy} aria-label=${`Test ${title}`}
      onClick=${() => void test()}>Test</button>
    <span role="status" class=${`credential-told ${told?.ok ? "good" : "bad"}`}>${told && wordsOf(told)}</span>`;
}

/** @param {OutputOf<"capabilities.test">} told */
function wordsOf({ message, remedy }) {
  return remedy ? `${message} ${remedy}.` : message;
}
