// @ts-check
/** The form for one agent: what it does, its tools, when it runs by itself, and what a run may cost. */
import { useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { reasonOf, useFetched } from "../settings/fetched.js";
import { dollars, plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { listOf, TextField } from "../ui/text_field.js";
import { toast } from "../ui/toast.js";

/** @typedef {Pick<OutputOf<"agents.list">[number], "instructions" | "tools" | "approvals" | "schedule" | "triggers"
 *   | "model" | "ceilingUsd">} Agent */
/** @typedef {{ path: string | null, title: string, agent: Agent }} Edited */

/** The tools of svc that an agent has if its page names none. */
const USUAL = ["pages.*", "mail.*", "people.*", "tasks.*", "files.*", "memory.*", "http.fetch"];
/** @type {Record<string, string>} */
const GROUPS = { "pages.*": "Read and write pages", "mail.*": "Read, draft and send mail", "people.*": "Look up people",
  "tasks.*": "Keep tasks", "files.*": "Read files", "memory.*": "Keep a memory", "http.fetch": "Fetch web addresses" };

/** @type {Agent} */
export const EMPTY = { instructions: "", tools: USUAL, approvals: {}, schedule: null, triggers: [], model: null,
  ceilingUsd: null };

/** @param {{ edited: Edited, write: (part: Partial<Edited>) => void, done: () => Promise<void> }} props */
export function AgentEditor({ edited, write, done }) {
  const known = useFetched("tools.list");
  const { title, agent } = edited;
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const change = (/** @type {Partial<Agent>} */ part) => {
    write({ agent: { ...agent, ...part } });
    setProblem("");
  };
  const save = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem("");
    try {
      const { instructions, tools, approvals, schedule, triggers, model, ceilingUsd } = agent;
      await mutate("agents.save", { ...(edited.path ? { path: edited.path } : {}), title, agent: { instructions, tools,
        approvals, schedule, triggers, model, ceilingUsd } });
      toast("Saved.");
      await done();
    } catch (error) {
      setProblem(reasonOf(error));
    }
    setBusy(false);
  };
  const others = agent.tools.filter((one) => !USUAL.includes(one));
  const asking = (known.data ?? []).filter((one) => one.asks && agent.tools.some((pattern) => matches(pattern,
    one.name)));
  return html`<form class="rules-editor setting" aria-label="Agent" onSubmit=${save}>
    <${TextField} label="Name" value=${title}
      set=${(/** @type {string} */ text) => write({ title: text })} hint="Morning mail" first />
    <label class="field"><span>What it is to do</span><textarea rows="6" required value=${agent.instructions}
      placeholder="Look through the mail of the last day, and make a task for each that I must answer."
      onInput=${(/** @type {InputEvent} */ event) =>
        change({ instructions: /** @type {HTMLTextAreaElement} */ (event.target).value })}></textarea></label>
    <h2>What it may use</h2>
    <div class="rules-checks">${USUAL.map((one) => html`<label key=${one} class="choice"><input type="checkbox"
      checked=${agent.tools.includes(one)}
      onChange=${() => change({ tools: toggled(agent.tools, one) })} /><span>${GROUPS[one]}</span></label>`)}</div>
    <${Part} title="More about its tools" facts=${toolFacts(others, agent.approvals)}>
      <${TextField} label="Other tools, by name" value=${others.join(", ")} hint="mail.search, mcp.notes.*"
        set=${(/** @type {string} */ text) => change({ tools: [...agent.tools.filter((one) => USUAL.includes(one)),
          ...listOf(text)] })} />
      ${asking.length > 0 && html`<fieldset class="agent-asks"><legend>Without asking you first</legend>
        <p class="fine">This counts until the agent reads text from outside, such as mail. From then on it asks you each
          time.</p>
        ${asking.map(({ name, summary }) => html`<label key=${name} class="choice"><input type="checkbox"
          checked=${agent.approvals[name] === "auto"} onChange=${() => change({
            approvals: flipped(agent.approvals, name) })} /><span>${firstSentence(summary)}</span></label>`)}
      </fieldset>`}
    <//>
    <${Part} title="When it runs by itself" facts=${whenWords(agent)}>
      <${TextField} label="At times (UTC)" value=${agent.schedule ?? ""}
        hint="daily at 07:30, every 2 hours, mondays at 07:30"
        set=${(/** @type {string} */ text) => change({ schedule: text.trim() || null })} />
      <label class="choice"><input type="checkbox" checked=${agent.triggers.includes("mail")} onChange=${() =>
        change({ triggers: toggled(agent.triggers, "mail") })} /><span>For each mail that arrives</span></label>
      <${TextField} label="When one of these pages changes" hint="notes/*, plans/2027"
        value=${agent.triggers.filter((one) => one !== "mail").map((one) => one.replace(/^page:/, "")).join(", ")}
        set=${(/** @type {string} */ text) => change({ triggers: [...agent.triggers.filter((one) => one === "mail"),
          ...listOf(text).map((one) => `page:${one}`)] })} />
    <//>
    <${Part} title="Model and cost" facts=${costFacts(agent)}>
      <${TextField} label="Model" value=${agent.model ?? ""} hint="the model of this server"
        set=${(/** @type {string} */ text) => change({ model: text.trim() || null })} />
      <label class="field"><span>Dollars that one run may cost at most</span><input type="number" min="0" max="1000"
        step="any" value=${agent.ceilingUsd ?? ""} placeholder="as for all runs"
        onInput=${(/** @type {Event} */ event) => {
          const { value } = /** @type {HTMLInputElement} */ (event.target);
          change({ ceilingUsd: value === "" ? null : Number(value) });
        }} /></label>
    <//>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    <p class="rules-acts">
      <button class="button primary" aria-busy=${busy} disabled=${!title.trim() || !agent.instructions.trim()}>Save
      </button>
      <button type="button" class="button" onClick=${done}>Cancel</button>
    </p>
  </form>`;
}

/**
 * A part that a newcomer can leave alone. While it is folded, a line says what it contains.
 * @param {{ title: string, facts: string, children: unknown }} props
 */
function Part({ title, facts, children }) {
  const [open, setOpen] = useState(false);
  return html`<details class="folded agent-part"
    onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
    <summary><${Icon} name="chevron" size=${14} /><b>${title}</b>${!open && html`<span class="fine">${facts}</span>`}
    </summary>
    <div class="agent-part-body">${children}</div>
  </details>`;
}

/** @param {string[]} others @param {Agent["approvals"]} approvals */
function toolFacts(others, approvals) {
  const freely = Object.values(approvals).filter((one) => one === "auto").length;
  return [others.length > 0 && `also ${others.join(", ")}`, freely ? `uses ${plural(freely, "tool")} without asking`
    : "asks before it sends, fetches or changes anything for others"].filter(Boolean).join("; ");
}

/** @param {Agent} agent */
function whenWords({ schedule, triggers }) {
  const facts = [schedule && `${schedule} (UTC)`, ...triggers.map(triggerWords)].filter(Boolean);
  return facts.join(", ") || "only when you start it";
}

/** @param {string} trigger "mail", or "page:" and a path */
export function triggerWords(trigger) {
  return trigger === "mail" ? "for each mail that arrives" : `when ${trigger.replace(/^page:/, "")} changes`;
}

/** @param {Agent} agent */
function costFacts({ model, ceilingUsd }) {
  return `${model ?? "the model of this server"}, ${ceilingUsd === null ? "with the limit of all runs"
    : `at most ${dollars(ceilingUsd)} a run`}`;
}

/** The first sentence of a text, without its full stop. @param {string} text */
function firstSentence(text) {
  return (text.split(/[.;](?=\s|$)/)[0] ?? text).trim();
}

/** Matches a tool's name as the server does. @param {string} pattern @param {string} name */
function matches(pattern, name) {
  return pattern === name || (pattern.endsWith("*") && name.startsWith(pattern.slice(0, -1)));
}

/** @param {string[]} all @param {string} one */
function toggled(all, one) {
  return all.includes(one) ? all.filter((other) => other !== one) : [...all, one];
}

/** @param {Agent["approvals"]} approvals @param {string} name @returns {Agent["approvals"]} */
function flipped(approvals, name) {
  const { [name]: before, ...others } = approvals;
  return before === "auto" ? others : { ...others, [name]: "auto" };
}
