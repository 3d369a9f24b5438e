// @ts-check
/** Settings, Plugins: what each brings and may reach, switching it on and off, consent to its rights. For admins. */
import { useEffect } from "preact/hooks";
import { mutate } from "../rpc.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { Nothing } from "../ui/empty.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { noteHref } from "./address.js";
import { changes } from "./news.js";

/** @typedef {OutputOf<"plugins.list">[number]} Plugin */

const STATES = { on: "on", off: "off", failed: "failed" };
const SOURCES = {
  environment: html`Which they are is set on the server, as <code>SVC_PLUGINS</code>.`,
  repository: html`They are listed in <code>plugins.json</code> of the repository that is followed.`,
};
/** Where a plugin's rule or agent is found once it is allowed. @type {Partial<Record<string, [string, string]>>} */
const ACTS = { rule: ["/settings/rules", "See it among your rules"], agent: ["/settings/agents", "Run it"] };
const KINDS = { note: "Note", template: "Template", rule: "Rule for mail", agent: "Agent" };

export function PluginsSection() {
  const plugins = useFetched("plugins.list");
  const status = useFetched("plugins.status");
  const changed = async () => {
    await Promise.all([plugins.load(), status.load()]);
  };
  const told = changes.value;
  useEffect(() => {
    if (told > 0) void changed();
  }, [told]);
  const renew = async () => {
    await mutate("plugins.update");
    toast("Looking for newer versions.");
    await changed();
  };
  return html`<section class="setting" aria-labelledby="plugins-title">
      <h2 id="plugins-title">Installed plugins</h2>
      <${Pending} of=${status} what="how the plugins stand" />
      ${status.data?.source === "none" && html`<${Nothing} icon="plugin" title="No plugins yet">
        <p>A plugin brings notes, templates, themes, commands or MCP servers.</p>
        <p class="fine">Set on the server, with a restart: <code>SVC_PLUGINS</code>. Or name them in
          ${" "}<code>plugins.json</code> of the repository that is followed.</p></${Nothing}>`}
      ${status.data && status.data.source !== "none" && html`<p class="fine">${SOURCES[status.data.source]}
        ${status.data.registry && html` From <code>${status.data.registry}</code>.`}</p>`}
      ${status.data?.problem && html`<div class="notice bad" role="status"><${Icon} name="warning" />
        <div><p>${status.data.problem}.</p><p>The last good version stays in use.</p></div></div>`}
      ${status.data?.busy && html`<p class="quiet-text" role="status">Installing</p>`}
      ${status.data && status.data.source !== "none"
        && html`<${ConfirmButton} label="Look for newer versions" run=${renew} />`}
      <${Pending} of=${plugins} what="the plugins" />
    </section>
    ${plugins.data?.map((one) => html`<${PluginCard} key=${one.name} plugin=${one} changed=${changed} />`)}`;
}

/** @param {{ plugin: Plugin, changed: () => Promise<void> }} props */
function PluginCard({ plugin, changed }) {
  const { name, title, version, wanted, state, problem, about } = plugin;
  const turn = async () => {
    await mutate("plugins.set", { name, on: state === "off" });
    await changed();
  };
  const id = `plugin-${name}`;
  return html`<section class="setting plugin" aria-labelledby=${id}>
    <div class="plugin-head"><h2 id=${id}>${title}</h2> <span class=${`badge ${state === "on" ? "open" : ""}`}>
      ${STATES[state]}</span></div>
    <p class="fine"><code>${name}</code> ${version ?? "not installed"} · ${
      wanted === null ? "wanted no more" : wanted === "*" ? "any version is wanted" : `wanted: ${wanted}`}</p>
    ${about && html`<p>${about}</p>`}
    ${problem && html`<div class="notice bad"><${Icon} name="warning" /><div><p>${problem}</p></div></div>`}
    <${Brings} plugin=${plugin} />
    <${Rights} plugin=${plugin} changed=${changed} />
    <${ConfirmButton} key=${state} label=${state === "off" ? "Switch on" : "Switch off"} what=${title} run=${turn} />
  </section>`;
}

/** @param {{ plugin: Plugin }} props */
function Brings({ plugin }) {
  const { pages, palette, themes, mcp } = plugin.brings;
  if (![pages, palette, themes, mcp].some((rows) => rows.length)) return null;
  return html`<ul class="plugin-brings" aria-label=${`What ${plugin.title} brings`}>
    ${pages.map((one) => html`<li key=${one.name}>${KINDS[one.kind]}: ${one.kind === "note" && plugin.state === "on"
      ? html`<a href=${noteHref(plugin.name, one.name)}>${one.title}</a>` : one.title}<${Acts} of=${one} /></li>`)}
    ${palette.map((one, index) => html`<li key=${index}>Command: ${one.title}</li>`)}
    ${themes.map((one) => html`<li key=${one.name}>Theme: ${one.title}</li>`)}
    ${mcp.map((one) => html`<li key=${one.name}>MCP server: ${one.name} <code>${one.target}</code>
      ${one.whyNot ? html` <span class="quiet-text">${one.whyNot}</span>`
        : html` <a href="/settings/mcp">Connect it and allow its tools</a>`}</li>`)}
  </ul>`;
}

/** @param {{ of: Plugin["brings"]["pages"][number] }} props */
function Acts({ of: { kind, whyNot } }) {
  const [href, words] = ACTS[kind] ?? [];
  if (!href) return null;
  return whyNot ? html` <span class="quiet-text">${whyNot}</span>` : html` <a href=${href}>${words}</a>`;
}

/** The rights that are agreed to, or wait for it. @param {{ plugin: Plugin, changed: () => Promise<void> }} props */
function Rights({ plugin, changed }) {
  const { name, title, state, rights } = plugin;
  if (!rights.length) {
    return state !== "failed" && html`<p class="fine">It only shows things; it reaches nothing.</p>`;
  }
  const waiting = rights.filter((one) => !one.agreed);
  const agree = async () => {
    try {
      await mutate("plugins.agree", { name, rights: waiting.map((one) => one.id) });
    } finally {
      await changed();
    }
  };
  return html`<div class="plugin-rights">
    <p class="fine">${waiting.length ? "It asks for what needs your yes:" : "You said yes to:"}</p>
    <ul aria-label=${`What ${title} may do`}>${rights.map((one) => html`<li key=${one.id}>
      <span class=${`badge ${one.agreed ? "open" : ""}`}>${one.agreed ? "agreed" : "waits"}</span> ${one.words}
      ${one.text !== null && html`<pre class="plugin-text">${one.text}</pre>`}
    </li>`)}
    </ul>
    ${waiting.length > 0 && html`<${ConfirmButton} key=${waiting.map((one) => one.id).join()} label="Say yes"
      what=${title} question="It may do all of that from then on." sure="Yes" calm run=${agree} />`}
  </div>`;
}
