// @ts-check
/** The steps of a run as a tree: each with its state, and with its input and output when it is opened. */
import { useEffect, useState } from "preact/hooks";
import { now } from "../now.js";
import { queryAlone } from "../rpc.js";
import { reasonOf } from "../settings/fetched.js";
import { fullTime, number } from "../ui/format.js";
import { ConfirmButton } from "../ui/confirm.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { runHref } from "./address.js";
import { ApprovalCard, Card } from "./approval_card.js";
import { approvals } from "./approvals.js";
import { State } from "./badge.js";
import { KIND_WORDS, stepFacts, stepState } from "./words.js";
import { Value } from "./value.js";

/** @typedef {import("./tree.js").Node} Node */
/** @typedef {{ label: string, text: string, marks: string[] }[]} Rows */

/** How many steps of one level are shown at first. */
const SHOWN = 100;

/**
 * `retry`: continues from a model call in a new run; null if that is not possible.
 * @param {{ runId: string, nodes: Node[], retry?: ((stepId: string) => Promise<void>) | null }} props
 */
export function StepTree({ runId, nodes, retry = null }) {
  const [all, setAll] = useState(false);
  const hidden = all ? 0 : nodes.length - SHOWN;
  return html`<ol class="run-steps">
    ${(hidden > 0 ? nodes.slice(0, SHOWN) : nodes).map((node) =>
      html`<${StepNode} key=${node.id} runId=${runId} node=${node} retry=${retry} />`)}
    ${hidden > 0 && html`<li><button class="button small" onClick=${() => setAll(true)}>Show ${number(hidden)} more
      steps</button></li>`}
  </ol>`;
}

/** @param {{ runId: string, node: Node, retry: ((stepId: string) => Promise<void>) | null }} props */
function StepNode({ runId, node, retry }) {
  const { id, name, step, below } = node;
  const approval = approvals.value?.find((one) => one.runId === runId && one.stepId === id);
  return html`<li class="run-step" data-step=${id}>
    ${step ? html`<${Step} runId=${runId} name=${name} step=${step} retry=${step.kind === "llm" ? retry : null} />`
      : html`<p class="run-branch"><span class="sr-only">Branch </span><bdi>${name}</bdi></p>`}
    ${step?.childId && html`<p class="fine run-step-more"><a href=${runHref(step.childId)}>${
      step.state === "waiting" ? "Open the run that it waits for" : "Open the run that it waited for"}</a></p>`}
    ${approval && html`<${ApprovalCard} key=${approval.id} approval=${approval} />`}
    ${below.length > 0 && html`<${StepTree} runId=${runId} nodes=${below} retry=${retry} />`}
  </li>`;
}

/**
 * @param {{ runId: string, name: string, step: RunStep, retry: ((stepId: string) => Promise<void>) | null }} props
 */
function Step({ runId, name, step, retry }) {
  const whole = () => queryAlone("runs.step", { id: runId, stepId: step.id });
  const [open, setOpen] = useState(false);
  const { error, state, startedAt } = step;
  return html`<details onToggle=${(/** @type {Event} */ event) =>
    setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
    <summary class="run-step-head">
      <${Icon} name="chevron" size=${16} />
      <span class="run-step-name"><bdi>${name}</bdi></span>
      <span class="quiet-text">${KIND_WORDS[step.kind]}</span>
      <${State} ...${stepState(step)} />
      ${step.changed && html`<span class="chip quiet">changed by a person</span>`}
      <span class="fine" title=${fullTime(startedAt)}>${stepFacts(step, now.value)}</span>
    </summary>
    ${open && html`<div class="run-step-body">
      ${error && html`<p class=${state === "failed" ? "form-problem" : "quiet-text"}>${state === "failed" ? ""
        : "The last try: "}${error.message} <code>${error.type}</code></p>`}
      ${step.kind === "approval" && state !== "waiting" && html`<${Asked} step=${step} whole=${whole} />`}
      <${Value} label=${`Input of ${name}`} value=${step.input} bytes=${step.inputBytes}
        fetchAll=${async () => (await whole()).input} />
      ${state === "done" && html`<${Value} label=${`Output of ${name}`} value=${step.output}
        bytes=${step.outputBytes} fetchAll=${async () => (await whole()).output} />`}
      ${retry && html`<${ConfirmButton} label="Go on from here" what=${name} sure="Begin it" calm
        question="A new run asks the model again at this point. What this run did stays done, and may be done again."
        run=${() => retry(step.id)} />`}
    </div>`}
  </details>`;
}

/**
 * The call that a person has decided on: as it was made, if they changed it.
 * @param {{ step: RunStep, whole: () => Promise<RunStep> }} props
 */
function Asked({ step, whole }) {
  const [card, setCard] = useState(/** @type {Rows | null} */ (null));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    whole().then((found) => setCard(/** @type {Rows | null} */ (found.card)), (error) => setProblem(reasonOf(error)));
  }, [step.state]);
  if (problem) return html`<p class="form-problem" role="alert">${problem}</p>`;
  return card && html`<section class="approval" aria-label=${`The call of ${step.name}`}>
    <p class="fine">${step.changed ? "What was called, as a person changed it" : "What the person was asked"}</p>
    <${Card} rows=${card} /></section>`;
}
