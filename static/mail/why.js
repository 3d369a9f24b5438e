// @ts-check
/** "Why is this here?": what rules did with a thread, with undo, and a form to teach the rule. */
import { useState } from "preact/hooks";
import { mutate, query } from "../rpc.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";
import { show } from "./details.js";

/** @typedef {OutputOf<"rules.why">[number]} Act */

/** A plugin's rule can't be taught. @param {Act} act */
const isOfPlugin = ({ rule }) => rule.startsWith("plugins/");

/** @param {{ threadId: string, own: boolean }} props */
export function WhyHere({ threadId, own }) {
  const [acts, setActs] = useState(/** @type {Act[] | null} */ (null));
  const { busy, problem, run } = useAction();
  const look = async () => setActs(await query("rules.why", { threadId }));
  const fold = () => run(async () => setActs(null));
  const act = (/** @type {() => Promise<unknown>} */ work, /** @type {string} */ said) => run(async () => {
    await work();
    toast(said);
    await look();
    await show(threadId);
  });
  const told = acts !== null || problem;
  return html`<button class="link why-ask" aria-busy=${busy} aria-expanded=${told ? "true" : "false"}
    onClick=${() => told ? fold() : run(look)}>Why is this here?</button>
  ${told && html`<div class="why" role="status">
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    ${acts?.length === 0 && html`<p>No rule has touched this thread.</p>`}
    ${acts?.map((one) => html`<div key=${`${one.runId} ${one.rule}`} class="why-act">
      <p>The rule <a href=${isOfPlugin(one) ? `/${one.rule}` : `/p/${one.rule}`}>
        <bdi>${one.rule.split("/").at(-1)}</bdi></a> matched
        (<bdi>${one.because}</bdi>) and did: <bdi>${one.did.join(", ") || "nothing"}</bdi>.${
        one.undone && " It was taken back."}${one.problem && html` The model gave no answer: <bdi>${
        one.problem}</bdi> <a href="/p/runs">Runs</a> can ask it again.`}</p>
      ${own && html`<p class="why-actions">
        ${!one.undone && !one.problem && html`<button class="button small" aria-busy=${busy} onClick=${() =>
          act(() => mutate("rules.undo", { runId: one.runId }), "Taken back.")}>Undo</button>`}
        ${!isOfPlugin(one) && html`<button class="button small" aria-busy=${busy} onClick=${() =>
          act(() => mutate("rules.teach", { path: one.rule, threadId }), "The rule leaves this sender alone now.")}>
          Not for this sender</button>`}</p>`}
    </div>`)}
  </div>`}`;
}
