// @ts-check
/** The page of one run: its state, its steps, the runs that it began, and the actions for it. */
import { useEffect, useLayoutEffect } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { now } from "../now.js";
import { fromHere, navigate } from "../router.js";
import { mutate } from "../rpc.js";
import { Pending } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { fullTime } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { runHref, runsHref } from "./address.js";
import { AgentTalk } from "./agent.js";
import { approvals, loadApprovals } from "./approvals.js";
import { Progress, State } from "./badge.js";
import { focusNext } from "./focus.js";
import { RunRow } from "./list.js";
import { GoOn, RunCost } from "./money.js";
import { useRun } from "./reading.js";
import { StepTree } from "./steps.js";
import { treeOf } from "./tree.js";
import { Value } from "./value.js";
import { hasEnded, runTimes, STATE_WORDS, tokens } from "./words.js";

const HEADS = ".run-step-head";

/** @param {string | null} parentId @returns {import("../keys.js").Shortcut[]} */
export function shortcuts(parentId) {
  return [
    { keys: ["j"], label: "Next step", run: () => focusNext(HEADS, 1), repeats: true },
    { keys: ["k"], label: "Previous step", run: () => focusNext(HEADS, -1), repeats: true },
    { keys: ["u", "Escape"], label: parentId ? "Up to the run that began it" : "Back to the runs",
      run: () => navigate(parentId ? runHref(parentId) : "/p/runs") },
  ];
}

/** @param {{ id: string }} props */
export function RunPage({ id }) {
  const found = useRun(id);
  const run = found.data;
  const parentId = run?.parentId ?? null;
  useLayoutEffect(() => registerKeys("Run", shortcuts(parentId)), [parentId]);
  useEffect(() => {
    document.title = `${run?.title ?? "Run"} – svc`;
  }, [run?.title]);
  useEffect(() => void loadApprovals(), []);
  return html`<main class="panel scrolls runs"><div class="page-frame">
    <nav class="runs-path" aria-label="Where this run stands"><ol>
      <li><a href="/p/runs">Runs</a></li>
      ${run?.ancestors.map((one) => html`<li key=${one.id}>
        <a href=${runHref(one.id)}><bdi>${one.title}</bdi></a></li>`)}
    </ol></nav>
    ${found.missing
      ? html`<div class="empty"><p class="empty-title">There is no such run here</p>
          <p>It may be somebody else’s, or was forgotten 90 days after its end.</p></div>`
      : html`<${Pending} of=${found} what="the run" />`}
    ${run && !found.missing && html`<${Head} run=${run} changed=${found.load} />
      <${Body} run=${run} reload=${found.load} />`}
  </div></main>`;
}

/** @param {{ run: RunDetail, changed: () => Promise<void> }} props */
function Head({ run, changed }) {
  const { id, title, state, error, workflow, parentId, createdAt, usage } = run;
  const act = (/** @type {"runs.cancel" | "runs.retry"} */ name) => async () => {
    await mutate(name, { id });
    await changed();
  };
  const asksModels = usage.inputTokens || usage.outputTokens || run.steps.some((step) => step.kind === "llm");
  const waiting = (approvals.value ?? []).filter((one) => one.runId === id).length;
  const isOver = state === "failed" && workflow === "agent" && error?.type === "OverOwnCeiling";
  const canRetry = (state === "failed" || state === "cancelled") && !isOver;
  return html`<header class="setting run-head">
    <h1><bdi>${title}</bdi> <${State} ...${STATE_WORDS[state]} /></h1>
    ${error && html`<div class=${`notice ${state === "failed" ? "bad" : ""}`} role="status">
      <${Icon} name="warning" /><span>${error.message} <code>${error.type}</code></span></div>`}
    ${waiting > 0 && html`<div class="notice" role="status"><${Icon} name="warning" />
      <span>It waits for your decision${waiting > 1 && ` in ${waiting} places`}.</span>
      <button class="button small" onClick=${() => focusNext(".run-step .approval", 1)}>Show it</button></div>`}
    <${Progress} run=${run} />
    <dl class="run-facts">
      <dt>Workflow</dt><dd><a href=${runsHref({ workflow })}><code>${workflow}</code></a></dd>
      <dt>Time</dt><dd><span title=${`Queued ${fullTime(createdAt)}`}>${runTimes(run, now.value)}</span></dd>
      ${asksModels && html`<dt>Tokens</dt><dd>${tokens(usage)}</dd><${RunCost} run=${run} />`}
    </dl>
    ${!hasEnded(state) && html`<${ConfirmButton} label="Cancel" what=${title} run=${act("runs.cancel")}
      question="It stops, and so does all that it began." sure="Stop it" />`}
    ${isOver && html`<${GoOn} run=${run} changed=${changed} />`}
    ${workflow === "rules.apply" && hasEnded(state) && html`<${TakeBack} id=${id} title=${title} />`}
    ${canRetry && !parentId && html`<${ConfirmButton} label="Retry" what=${title} run=${act("runs.retry")} />
      <p class="fine">It goes on at its first step that is not done.</p>`}
    ${canRetry && parentId && html`<p class="fine">Another run began it:
      ${" "}<a href=${runHref(parentId)}>retry that one</a>.</p>`}
  </header>`;
}

/** Undoes what a rule did with existing mail. @param {{ id: string, title: string }} props */
function TakeBack({ id, title }) {
  const run = async () => {
    await mutate("rules.undo", { runId: id });
    toast("Taken back: labels, stars and the inbox are as before. Pages and tasks stay.");
  };
  return html`<${ConfirmButton} label="Undo" what=${title} sure="Take it back" calm run=${run}
    question="Put all mail back as it was before this run?" />`;
}

/** Continues an agent's ended run in a new run, from one of its model calls. @param {string} runId */
function retryFrom(runId) {
  return async (/** @type {string} */ stepId) => {
    const go = fromHere();
    const begun = await mutate("agents.retry", { runId, stepId });
    go(runHref(begun.runId));
  };
}

/** @param {{ run: RunDetail, reload: () => Promise<void> }} props */
function Body({ run, reload }) {
  const { id, steps, children, input, output, state } = run;
  return html`${run.workflow === "agent" && html`<${AgentTalk} run=${run} ended=${hasEnded(state)}
      reload=${reload} />`}
    <section class="setting" aria-labelledby="run-steps">
      <h2 id="run-steps">Steps</h2>
      ${steps.length ? html`<${StepTree} runId=${id} nodes=${treeOf(steps)}
          retry=${run.workflow === "agent" && hasEnded(state) ? retryFrom(id) : null} />`
        : html`<p class="quiet-text">${hasEnded(state) ? "It took no step." : "No step is done yet."}</p>`}
    </section>
    ${children.length > 0 && html`<section class="setting" aria-labelledby="run-children">
      <h2 id="run-children">Runs that it began</h2>
      <ul class="things">${children.map((one) => html`<${RunRow} key=${one.id} run=${one} owner="" />`)}</ul>
    </section>`}
    <section class="setting" aria-labelledby="run-values">
      <h2 id="run-values">Input and output</h2>
      ${input !== null && html`<${Value} label="Input of the run" value=${input} />`}
      ${state === "done" && html`<${Value} label="Output of the run" value=${output} />`}
    </section>`;
}
