// @ts-check
/** Credentials: what each is for, where to get it, set, rotate, test and remove it. A value is never shown again. */
import { useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { day } from "../settings/dates.js";
import { Pending, reasonOf, useFetched } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { fullTime } from "../ui/format.js";
import { html } from "../ui/html.js";

/** @typedef {OutputOf<"capabilities.list">[number]} Credential */

const SOURCES = { seed: "from the environment", user: "set here", oauth: "connected" };

export function CredentialsSection() {
  const credentials = useFetched("capabilities.list");
  const all = credentials.data ?? [];
  const connected = all.filter((one) => one.fields.length === 0);
  return html`<section class="setting" aria-labelledby="credentials-title">
      <h2 id="credentials-title">Services</h2>
      <p class="fine">Values are encrypted, and nobody can read them here, not even you. Each use is written down.
        Some belong to features that are not there yet, and are kept for them.</p>
      <${Pending} of=${credentials} what="the credentials" />
      <ul class="things">${all.filter((one) => one.fields.length > 0).map((one) =>
        html`<${CredentialRow} key=${one.name} credential=${one} changed=${credentials.load} />`)}</ul>
    </section>
    ${connected.length > 0 && html`<section class="setting" aria-labelledby="connected-title">
      <h2 id="connected-title">Connected accounts</h2>
      <p class="fine">${connected[0]?.obtain}</p>
      <ul class="things">${connected.map((one) => html`<li key=${one.name} class="thing"><div class="thing-text">
        <p class="thing-title">${one.title}</p><p class="fine"><${Facts} credential=${one} /></p></div></li>`)}</ul>
    </section>`}
    <${Uses} />`;
}

/** @param {{ credential: Credential, changed: () => Promise<void> }} props */
function CredentialRow({ credential, changed }) {
  const [editing, setEditing] = useState(false);
  const { name, title, configured, probed } = credential;
  const remove = async () => {
    await mutate("capabilities.remove", { name });
    await changed();
  };
  const saved = () => {
    setEditing(false);
    void changed();
  };
  return html`<li class="thing credential">
    <div class="thing-text">
      <p class="thing-title">${title} <span class=${`badge ${configured ? "open" : ""}`}>${
        configured ? "set" : "not set"}</span></p>
      <p class="fine">${credential.purpose}</p>
      <p class="fine"><${Facts} credential=${credential} /></p>
    </div>
    <div class="credential-steps">
      ${configured && probed && html`<${TestButton} name=${name} title=${title} changed=${changed} />`}
      ${!editing && html`<button class="button small" onClick=${() => setEditing(true)}
        aria-label=${`${configured ? "Replace" : "Set"} ${title}`}>${configured ? "Replace" : "Set"}</button>`}
      ${configured && html`<${ConfirmButton} label="Remove" what=${title} run=${remove}
        question="What uses it stops working." />`}
    </div>
    ${editing && html`<${CredentialForm} credential=${credential} saved=${saved} close=${() => setEditing(false)} />`}
  </li>`;
}

/** Since when, from where, and who used it last. @param {{ credential: Credential }} props */
function Facts({ credential }) {
  const { source, version, updatedAt, lastUsedAt, lastUsedBy } = credential;
  if (!source || !updatedAt) return html`<code>${credential.name}</code>`;
  return html`<code>${credential.name}</code> · ${SOURCES[source]}, version ${version}, <span
    title=${fullTime(updatedAt)}>${day(updatedAt)}</span> · ${lastUsedAt
    ? html`last used <span title=${fullTime(lastUsedAt)}>${day(lastUsedAt)}</span> by ${lastUsedBy}`
    : "never used"}`;
}

/** @param {{ credential: Credential, saved: () => void, close: () => void }} props */
function CredentialForm({ credential, saved, close }) {
  const [values, setValues] = useState(/** @type {Record<string, string>} */ ({}));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const { name, fields } = credential;
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem("");
    try {
      const given = Object.fromEntries(Object.entries(values).filter(([, text]) => text.trim()));
      const [only] = fields;
      await mutate("capabilities.set", { name, value: fields.length === 1 && only ? given[only.name] ?? "" : given });
      saved();
    } catch (error) {
      setProblem(reasonOf(error));
      setBusy(false);
    }
  };
  return html`<form class="credential-form" onSubmit=${submit} onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  }}>
    <p class="fine">Where to get it: ${credential.obtain}</p>
    ${fields.map((field, index) => html`<label key=${field.name} class="field"><span>${field.label}</span>
      <input type=${field.secret ? "password" : "text"} autocomplete="off" spellcheck=${false} ref=${
        (/** @type {HTMLInputElement | null} */ input) => {
          if (index === 0 && input && !input.dataset.focused) {
            input.dataset.focused = "yes";
            input.focus();
          }
        }} value=${values[field.name] ?? ""} onInput=${(/** @type {InputEvent} */ event) => setValues({ ...values,
          [field.name]: /** @type {HTMLInputElement} */ (event.target).value })} /></label>`)}
    <div class="credential-steps">
      <button class="button primary" type="submit" aria-busy=${busy}>Save</button>
      <button class="button" type="button" onClick=${close}>Cancel</button>
    </div>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </form>`;
}

/** Asks the service, and shows what it said. @param {{ name: string, title: string, changed: () => void }} props */
function TestButton({ name, title, changed }) {
  const [told, setTold] = useState(/** @type {OutputOf<"capabilities.test"> | null} */ (null));
  const [busy, setBusy] = useState(false);
  const test = async () => {
    if (busy) return;
    setBusy(true);
    try {
      setTold(await mutate("capabilities.test", { name }));
    } catch (error) {
      setTold({ ok: false, message: reasonOf(error) });
    }
    setBusy(false);
    changed();
  };
  return html`<button class="button small" aria-busy=${busy} aria-label=${`Test ${title}`} onClick=${() => void test()}>
      Test</button>
    <span role="status" class=${`credential-told ${told?.ok ? "good" : "bad"}`}>${told?.message ?? ""}</span>`;
}

/** The newest uses of all credentials. */
function Uses() {
  const audit = useFetched("capabilities.audit");
  const rows = audit.data?.rows ?? [];
  return html`<section class="setting" aria-labelledby="uses-title">
    <h2 id="uses-title">Uses</h2>
    <${Pending} of=${audit} what="the uses" />
    ${audit.data && rows.length === 0 && html`<p class="quiet-text">Nothing was used yet.</p>`}
    ${rows.length > 0 && html`<div class="credential-uses" role="region" aria-label="Uses of credentials" tabindex="0">
      <table><thead><tr><th>When</th><th>Credential</th><th>Who</th><th>What for</th><th>Outcome</th></tr></thead>
      <tbody>${rows.map((row, index) => html`<tr key=${index}><td title=${fullTime(row.at)}>${day(row.at)}</td>
        <td>${row.name}</td><td>${row.actor}</td><td>${row.purpose}</td><td>${row.outcome}</td></tr>`)}</tbody></table>
    </div>`}
  </section>`;
}
