// @ts-check
/** The cost of models in dollars, from the ledger: of a run so far, and of today. */
import { useEffect, useState } from "preact/hooks";
import { mutate, query } from "../rpc.js";
import { useFetched } from "../settings/fetched.js";
import { useAction } from "../ui/action.js";
import { dollars } from "../ui/format.js";
import { html } from "../ui/html.js";

/** @param {{ run: RunDetail }} props */
export function RunCost({ run }) {
  const [cost, setCost] = useState(/** @type {OutputOf<"models.ofRun"> | null} */ (null));
  useEffect(() => {
    query("models.ofRun", { runId: run.id }).then(setCost, () => {});
  }, [run.id, run.steps.length, run.state]);
  return cost && html`<dt>Cost</dt><dd>${dollars(cost.spent.usd)} of at most ${dollars(cost.ceilingUsd)}</dd>`;
}

/**
 * The form for a run that stopped at its own cost ceiling: it goes on with a higher one.
 * @param {{ run: RunDetail, changed: () => Promise<void> }} props
 */
export function GoOn({ run, changed }) {
  const [usd, setUsd] = useState("");
  const { busy, problem, run: act } = useAction();
  useEffect(() => {
    query("models.ofRun", { runId: run.id }).then((cost) => setUsd((cost.ceilingUsd * 2).toFixed(2)), () => {});
  }, [run.id]);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    void act(async () => {
      await mutate("agents.goOn", { runId: run.id, ceilingUsd: Number(usd) });
      await changed();
    });
  };
  return html`<form class="approval-form" onSubmit=${submit}>
    <p class="fine">It stopped before it asked the model again: what it did is done, and nothing is half done. With a
      higher ceiling it goes on there.</p>
    <label class="field"><span>Dollars that this run may cost in all</span>
      <input type="number" min="0.01" step="0.01" required value=${usd} onInput=${(/** @type {InputEvent} */ event) =>
        setUsd(/** @type {HTMLInputElement} */ (event.target).value)} /></label>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    <div class="approval-actions"><button class="button small primary" type="submit" aria-busy=${busy}>
      Go on</button></div>
  </form>`;
}

/** Shown only if there was some cost; details are in the settings. */
export function SpentToday() {
  const { data } = useFetched("models.usage");
  if (!data?.month.calls) return null;
  return html`<p class="fine">Models have cost you ${dollars(data.today.usd)} today, and ${
    dollars(data.month.usd)} in 30 days. <a href="/settings/models">Models</a></p>`;
}
