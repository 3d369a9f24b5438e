// @ts-check
/** The button and dialog "Ask an agent": about the open thread or page, with one of the user's agents or free text. */
import { useEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { navigate } from "../router.js";
import { reasonOf, useFetched } from "../settings/fetched.js";
import { html } from "../ui/html.js";
import { Modal } from "../ui/modal.js";
import { toast } from "../ui/toast.js";
import { runHref } from "./address.js";
import { named, start } from "./agents.js";

/** @typedef {{ about: string, input: import("./agents.js").Input }} Wanted */

/** What the dialog is about, while it is open. */
const wanted = signal(/** @type {Wanted | null} */ (null));

/** @param {Wanted & { class: string }} props */
export function AskButton({ about, input, class: name }) {
  return html`<button class=${name} onClick=${() => { wanted.value = { about, input }; }}>Ask an agent</button>`;
}

export function AskDialog() {
  return wanted.value && html`<${Ask} wanted=${wanted.value} close=${() => { wanted.value = null; }} />`;
}

/** @param {{ wanted: Wanted, close: () => void }} props */
function Ask({ wanted: { about, input }, close }) {
  const agents = useFetched("agents.list");
  const [agent, setAgent] = useState("");
  const [prompt, setPrompt] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  const isOpen = useRef(true);
  useEffect(() => () => { isOpen.current = false; }, []);
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (busy || (!agent && !prompt.trim())) return;
    setBusy(true);
    setProblem("");
    try {
      const runId = await start({ ...(agent && { agent }), ...(prompt.trim() && { prompt }) }, input);
      const go = () => navigate(runHref(runId));
      if (isOpen.current) {
        close();
        go();
      } else toast("The agent has begun.", { action: { label: "Open", run: go } }); // the person went on meanwhile
    } catch (error) {
      if (isOpen.current) setProblem(reasonOf(error)); // the dialog stays, with the person's words
      else toast(`The agent did not begin: ${reasonOf(error)}`, { tone: "error" });
    }
    setBusy(false);
  };
  return html`<${Modal} label="Ask an agent" class="ask-agent" close=${close}>
    <form class="approval-form" onSubmit=${submit}>
      <h2>Ask an agent</h2>
      <p class="fine">The agent is told that this is about <bdi>${about}</bdi>. What it sends, or changes for others,
        waits for you.</p>
      <label class="field"><span>Agent</span><select value=${agent} onChange=${(/** @type {Event} */ event) =>
        setAgent(/** @type {HTMLSelectElement} */ (event.target).value)}>
        <option value="">None: only what I say</option>
        ${(agents.data ?? []).map((one) => html`<option key=${one.path} value=${named(one)}>${one.title}</option>`)}
      </select></label>
      <label class="field"><span>What is to be done</span><textarea rows="3" autofocus value=${prompt}
        onInput=${(/** @type {InputEvent} */ event) =>
          setPrompt(/** @type {HTMLTextAreaElement} */ (event.target).value)}></textarea></label>
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
      <div class="approval-actions"><button class="button primary" aria-busy=${busy}
        disabled=${!agent && !prompt.trim()}>Begin</button>
        <button type="button" class="button" onClick=${close}>Cancel</button></div>
    </form>
  </${Modal}>`;
}
