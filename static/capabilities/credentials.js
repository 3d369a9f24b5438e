// @ts-check
/**
 * Credentials: their purpose and source, and buttons to set, rotate, test and remove them. A value is never shown
 * again.
 */
import { useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { day } from "../settings/dates.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { fullTime } from "../ui/format.js";
import { html } from "../ui/html.js";
import { CredentialForm, TestButton } from "./credential_form.js";

/** @typedef {import("./credential_form.js").Credential} Credential */

const SOURCES = { seed: "from the environment", user: "set here", oauth: "connected" };
const CONNECTED = { ...SOURCES, user: "a password" };

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
      <p class="thing-title">${title}${configured && html` <span class="badge open">set</span>`}</p>
      <p class="fine">${credential.purpose}</p>
      <p class="fine"><${Facts} credential=${credential} /></p>
    </div>
    <div class="credential-steps">
      ${configured && probed && html`<${TestButton} key=${credential.version} name=${name} title=${title}
        changed=${changed} />`}
      ${!editing && html`<button class="button small" onClick=${() => setEditing(true)}
        aria-label=${`${configured ? "Replace" : "Set"} ${title}`}>${configured ? "Replace" : "Set"}</button>`}
      ${configured && html`<${ConfirmButton} label="Remove" what=${title} run=${remove}
        question="What uses it stops working." />`}
    </div>
    ${editing && html`<${CredentialForm} credential=${credential} saved=${saved} close=${() => setEditing(false)} />`}
  </li>`;
}

/** Since when it is set, its source, and who used it last. @param {{ credential: Credential }} props */
function Facts({ credential }) {
  const { source, fields, version, updatedAt, lastUsedAt, lastUsedBy } = credential;
  if (!source || !updatedAt) return html`<code>${credential.name}</code>`;
  const words = fields.length > 0 ? SOURCES[source] : CONNECTED[source];
  return html`<code>${credential.name}</code> · ${words}, version ${version}, <span
    title=${fullTime(updatedAt)}>${day(updatedAt)}</span> · ${lastUsedAt
    ? html`last used <span title=${fullTime(lastUsedAt)}>${day(lastUsedAt)}</span> by ${lastUsedBy}`
    : "never used"}`;
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
