// @ts-check
/** Settings, Agents: the user's agents, the editor for one, and the memory of agents. */
import { signal } from "@preact/signals";
import { mutate } from "../rpc.js";
import { Faults, useWritten } from "../settings/declared.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { useAction } from "../ui/action.js";
import { dollars } from "../ui/format.js";
import { Nothing } from "../ui/empty.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { AgentEditor, EMPTY, triggerWords } from "./agent_editor.js";
import { begin, named } from "./agents.js";
import { SpentToday } from "./money.js";

/** @typedef {OutputOf<"agents.list">[number]} Agent */

/** The agent in the editor. It stays when the user goes to another page and comes back. */
const written = signal(/** @type {import("./agent_editor.js").Edited | null} */ (null));

export function AgentsSection() {
  const fetched = useFetched("agents.list");
  const problems = useFetched("config.problems");
  const load = async () => {
    await Promise.all([fetched.load(), problems.load()]);
  };
  const { edited, write, done } = useWritten(written, load, "agents");
  if (edited) return html`<${AgentEditor} edited=${edited} write=${write} done=${done} />`;
  const beginOne = html`<p><button id="edit-new" class="button primary"
    onClick=${() => { written.value = { path: null, title: "", agent: EMPTY }; }}><${Icon} name="plus" size=${16} />
    New agent</button></p>`;
  return html`<${Pending} of=${fetched} what="your agents" />
    <${Faults} problems=${problems.data} below="agents/" />
    ${fetched.data && html`<section class="setting" aria-label="Agents">
      <p class="fine">An agent is a model that works with your pages, mail and tasks. It acts as you; what it sends,
        fetches or changes for others waits for you once it has read text from outside.</p>
      <${SpentToday} />
      ${fetched.data.length === 0 && html`<${Nothing} icon="agent" title="No agents yet">
        <p>For example, an agent looks through the new mail each morning, and makes a task for each mail that you must
          answer.</p>
        ${beginOne}</${Nothing}>`}
      <ul class="rules-list">${fetched.data.map((one) => html`<${Row} key=${one.path} one=${one} load=${load}
        edit=${() => { written.value = { path: one.path, title: one.title, agent: one }; }} />`)}</ul>
      ${fetched.data.length > 0 && beginOne}
    </section>
    <${Memory} />`}`;
}

/** @param {{ one: Agent, load: () => Promise<void>, edit: () => void }} props */
function Row({ one, load, edit }) {
  const { busy, run } = useAction();
  const remove = async () => {
    await mutate("pages.delete", { path: one.path });
    document.getElementById("edit-new")?.focus(); // the row disappears, and it had the focus
    toast("The agent is in the trash of pages.");
    await load();
  };
  const facts = [one.schedule && `${one.schedule} (UTC)`, ...one.triggers.map(triggerWords),
    one.ceilingUsd !== null && `at most ${dollars(one.ceilingUsd)} a run`];
  return html`<li class="rules-row">
    <span class="triage-sender"><a href=${one.plugin ? `/${one.path}` : `/p/${one.path}`}>
      <bdi>${one.title}</bdi></a><span class="fine rules-what">${
      facts.filter(Boolean).join(", ") || "when you start it"}${
      one.plugin && html`. From the plugin <bdi>${one.plugin}</bdi>`}</span>${
      one.heldUp && html`<span class="fine" role="status">${one.heldUp}</span>`}</span>
    <button class="button small" aria-label=${`Run ${one.title}`} aria-busy=${busy} onClick=${() =>
      run(() => begin({ agent: named(one) }, null))}>Run</button>
    ${one.plugin ? html`<a class="button small" href="/settings/plugins" aria-label=${`Its plugin: ${one.title}`}>
        Its plugin</a>`
      : html`<button id=${`edit-${one.path}`} class="button small" aria-label=${`Edit ${one.title}`} onClick=${edit}>
        Edit</button>
      <${ConfirmButton} label="Delete" what=${one.title} sure="Delete" question="Move its page to the trash?"
        run=${remove} />`}
  </li>`;
}

function Memory() {
  const fetched = useFetched("memory.list");
  return html`<section class="setting" aria-label="Memory">
    <h2>Memory</h2>
    <p class="fine">Agents keep notes as pages under memory/. Only you can read, edit and delete them.</p>
    <${Pending} of=${fetched} what="the memory" />
    ${fetched.data?.length === 0 && html`<p class="quiet-text">Nothing is kept yet. An agent notes here what it needs in
      its next runs.</p>`}
    <ul class="rules-list">${(fetched.data ?? []).map((one) => html`<li key=${one.name} class="rules-row">
      <span class="triage-sender"><a href=${`/p/memory/${one.name}`}><bdi>${one.title || one.name}</bdi></a></span>
      ${one.fromOutside && html`<span class="chip quiet">from outside, not trusted</span>`}</li>`)}</ul>
  </section>`;
}
