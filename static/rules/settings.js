// @ts-check
/** Settings, Rules: the rules in their order, and an editor for one. */
import { signal } from "@preact/signals";
import { useState } from "preact/hooks";
import { navigate } from "../router.js";
import { mutate } from "../rpc.js";
import { Faults, useWritten } from "../settings/declared.js";
import { Pending, reasonOf, useFetched } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { Nothing } from "../ui/empty.js";
import { html } from "../ui/html.js";
import { dollars, plural } from "../ui/format.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { Editor, EMPTY } from "./editor.js";
import { Suggestions } from "./suggestions.js";
import { ruleWords } from "./words.js";

/** @typedef {OutputOf<"rules.list">[number]} Listed */
/** @typedef {{ path: string | null, title: string, rule: import("./editor.js").Rule }} Edited */

/** To how many of the newest mails a rule is applied. */
const APPLIES_TO = 1_000;

/** The rule that is being edited. It is still there when the person comes back from another page. */
const written = signal(/** @type {Edited | null} */ (null));

export function RulesSection() {
  const fetched = useFetched("rules.list");
  const problems = useFetched("config.problems");
  const suggested = useFetched("rules.suggestions");
  const load = async () => {
    await Promise.all([fetched.load(), problems.load(), suggested.load()]);
  };
  const { edited, write, done } = useWritten(written, load, "rules");
  if (edited) return html`<${Editor} edited=${edited} write=${write} done=${done} />`;
  const begin = html`<p><button id="edit-new" class="button primary"
    onClick=${() => { written.value = { path: null, title: "", rule: EMPTY }; }}><${Icon} name="plus" size=${16} />
    New rule</button></p>`;
  return html`<${Pending} of=${fetched} what="your rules" />
    <${Faults} problems=${problems.data} below="mail-rules/" />
    ${fetched.data && html`<section class="setting" aria-label="Mail rules">
      <p class="fine">Rules sort mail when it arrives, in their order. A rule that asks no model costs nothing.</p>
      ${fetched.data.length === 0 && html`<${Nothing} icon="rules" title="No rules yet">
        <p>A rule archives, labels or stars mail as it comes, or drafts an answer: “from a shop: label Receipts, and
          archive”.</p>
        ${begin}</${Nothing}>`}
      <ul class="rules-list">${fetched.data.map((one) => html`<${Row} key=${one.path} one=${one} load=${fetched.load}
        edit=${() => { written.value = { path: one.path, title: one.title, rule: one.rule }; }} />`)}</ul>
      ${fetched.data.length > 0 && begin}
    </section>
    <${Suggestions} found=${suggested.data ?? []} load=${load}
      edit=${(/** @type {import("./suggestions.js").Suggestion} */ { title, rule }) =>
        { written.value = { path: null, title, rule }; }} />`}`;
}

/** The question before a rule is applied to stored mail: how many threads it matches, and what the model would cost. */
async function whatItMeets(/** @type {string} */ path) {
  const { checked, matched, calls, cost } = await mutate("rules.test", { path, limit: APPLIES_TO });
  const price = calls > 0 ? ` Asking the model about those would cost ${dollars(cost)} at most.` : "";
  return `Of your newest ${plural(checked, "mail")} it matches ${plural(matched.length, "thread")}.${price} ` +
    "Apply it to them?";
}

/** @param {{ one: Listed, load: () => Promise<void>, edit: () => void }} props */
function Row({ one, load, edit }) {
  const [problem, setProblem] = useState("");
  const act = async (/** @type {() => Promise<unknown>} */ work, /** @type {string} */ said) => {
    setProblem("");
    try {
      await work();
      toast(said);
      await load();
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  const flip = () =>
    act(() => mutate("rules.save", { path: one.path, title: one.title,
      rule: { ...one.rule, enabled: !one.rule.enabled } }),
      one.rule.enabled ? "Switched off." : "Switched on. It holds for mail that comes from now on.");
  const apply = async () => {
    setProblem("");
    try {
      const { runId } = await mutate("rules.apply", { path: one.path, limit: APPLIES_TO });
      toast("It runs on the mail that is there. The page of the run can undo it.",
        { action: { label: "Show the run", run: () => navigate(`/p/runs/${runId}`) } });
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  const words = html`<span><bdi>${one.title}</bdi><span class="fine rules-what"><bdi>${ruleWords(one.rule)}</bdi>${
    one.plugin && html`. From the plugin <bdi>${one.plugin}</bdi>${!one.rule.enabled && ", which has it off"}.`}</span>
    </span>`;
  return html`<li class="rules-row">
    ${one.plugin ? html`<span class="triage-sender">${words}</span> <a class="button small" href="/settings/plugins"
        aria-label=${`Its plugin: ${one.title}`}>Its plugin</a>`
      : html`<label class="choice"><input type="checkbox" role="switch" checked=${one.rule.enabled} onChange=${flip} />
        ${words}</label>
      <button id=${`edit-${one.path}`} class="button small" aria-label=${`Edit: ${one.title}`} onClick=${edit}>
        Edit</button>`}
    <${ConfirmButton} label="Apply" what=${one.title} sure="Apply" calm
      question=${() => whatItMeets(one.path)}
      run=${apply} />
    ${!one.plugin && html`<${ConfirmButton} label="Delete" what=${one.title} sure="Delete"
      question="Move its page to the trash?" run=${() => act(async () => {
        await mutate("pages.delete", { path: one.path });
        document.getElementById("edit-new")?.focus(); // the row is removed, and would lose the focus
      }, "The rule is in the trash of pages.")} />`}
    ${one.isHeld && html`<p class="notice" role="status"><${Icon} name="warning" />
      <span><span>Not in use: its page holds text from others. <a href=${`/p/${one.path}`} aria-label=${
        `Read its page: ${one.title}`}>Read its page</a> and decide there.</span></span></p>`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </li>`;
}
