// @ts-check
/** A call that waits for a decision, drawn from exactly its input, and the buttons: approve, change first, decline. */
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { now } from "../now.js";
import { until } from "../settings/dates.js";
import { reasonOf } from "../settings/fetched.js";
import { ago, fullTime } from "../ui/format.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { runHref } from "./address.js";
import { approvals, approvalsProblem, decide, loadApprovals } from "./approvals.js";
import { jsonText, Value } from "./value.js";

/** All waiting approvals, as a section of the task queue. */
export function WaitingApprovals() {
  useEffect(() => void loadApprovals(), []);
  const all = approvals.value ?? [];
  if (!all.length && !approvalsProblem.value) return null;
  return html`<section class="setting" aria-labelledby="tasks-approvals">
    <h2 id="tasks-approvals">Waits for your decision</h2>
    ${approvalsProblem.value && html`<div class="notice bad" role="alert">
      <span>Could not load what waits for you: ${approvalsProblem.value}</span>
      <button class="button small" onClick=${() => void loadApprovals()}>Try again</button></div>`}
    ${all.map((one) => html`<${ApprovalCard} key=${one.id} approval=${one} linked=${true} />`)}
  </section>`;
}

/** @param {{ approval: Approval, linked?: boolean }} props `linked`: with a link to its run */
export function ApprovalCard({ approval, linked = false }) {
  const { summary, tool, requestedAt, expiresAt, runId } = approval;
  const [editing, setEditing] = useState(false);
  const { busy, problem, run } = useAction();
  const act = (/** @type {{ approve: boolean, input?: unknown }} */ decision) => run(() => decide(approval, decision));
  const title = useId();
  const isOver = Date.parse(expiresAt) <= now.value;
  return html`<article class="approval" aria-labelledby=${title} data-task tabindex="-1">
    <p class="approval-summary" id=${title}><bdi>${summary}</bdi></p>
    <p class="fine"><code>${tool}</code> · asked <span title=${fullTime(requestedAt)}>${ago(requestedAt, now.value)}
      </span> · <span title=${fullTime(expiresAt)}>${isOver ? "has expired" : `expires ${
        until(expiresAt, now.value)}`}</span>
      ${linked && html` · <a href=${runHref(runId)} data-action="open">Open the run</a>`}</p>
    ${editing
      ? html`<${EditForm} input=${approval.input} busy=${busy} close=${() => setEditing(false)}
          approve=${(/** @type {unknown} */ input) => act({ approve: true, input })} />`
      : html`${approval.card ? html`<${Card} rows=${approval.card} />`
        : html`<${Value} label=${`What ${tool} would be given`} value=${approval.input} whole=${true} />`}
        <div class="approval-actions">
          <button class="button small primary" aria-busy=${busy} aria-label=${`Approve: ${summary}`}
            onClick=${() => act({ approve: true })}>Approve</button>
          <button class="button small" aria-label=${`Change it first: ${summary}`} onClick=${() => setEditing(true)}>
            Change it first</button>
          <button class="button small danger" aria-busy=${busy} aria-label=${`Decline: ${summary}`}
            onClick=${() => act({ approve: false })}>Decline</button>
        </div>`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </article>`;
}

/**
 * Shows exactly what would happen, as text: nothing in it is a link, and nothing is loaded.
 * @param {{ rows: { label: string, text: string, marks: string[] }[] }} props
 */
export function Card({ rows }) {
  return html`<dl class="approval-rows">${rows.map(({ label, text, marks }, at) => html`<div key=${at}>
    <dt>${label}</dt>
    <dd><span class="approval-text"><bdi>${text}</bdi></span>
      ${marks.map((mark) => html`<span class="approval-mark" key=${mark}>${mark}</span>`)}</dd></div>`)}</dl>`;
}

/** @param {{ input: unknown, busy: boolean, approve: (input: unknown) => void, close: () => void }} props */
function EditForm({ input, busy, approve, close }) {
  const [text, setText] = useState(() => jsonText(input));
  const [problem, setProblem] = useState("");
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const told = useId();
  useLayoutEffect(() => field.current?.focus(), []);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    try {
      approve(JSON.parse(text));
      setProblem("");
    } catch (error) {
      setProblem(`This is not JSON, so nothing was decided: ${reasonOf(error)}`);
      field.current?.focus();
    }
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  };
  return html`<form class="approval-form" onSubmit=${submit} onKeyDown=${onKeyDown}>
    <label class="field"><span>What it is given, as JSON</span>
      <textarea ref=${field} rows=${Math.min(24, text.split("\n").length + 1)} spellcheck=${false} autocomplete="off"
        aria-invalid=${problem ? "true" : undefined} aria-describedby=${problem ? told : undefined} value=${text}
        onInput=${(/** @type {InputEvent} */ event) =>
          setText(/** @type {HTMLTextAreaElement} */ (event.target).value)} /></label>
    ${problem && html`<p class="form-problem" role="alert" id=${told}>${problem}</p>`}
    <div class="approval-actions">
      <button class="button small primary" type="submit" aria-busy=${busy}>Approve as changed</button>
      <button class="button small" type="button" onClick=${close}>Don’t change it</button>
    </div>
  </form>`;
}
