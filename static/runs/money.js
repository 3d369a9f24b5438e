// @ts-check
/** What models cost: a run so far, and today. In dollars, as the ledger has it. */
import { useEffect, useState } from "preact/hooks";
import { query } from "../rpc.js";
import { useFetched } from "../settings/fetched.js";
import { html } from "../ui/html.js";

/** Less than a cent is told in tenths of one. @param {number} usd */
export function dollars(usd) {
  return `$${usd.toFixed(usd > 0 && usd < 0.1 ? 4 : 2)}`;
}

/** @param {{ run: RunDetail }} props */
export function RunCost({ run }) {
  const [cost, setCost] = useState(/** @type {OutputOf<"models.ofRun"> | null} */ (null));
  useEffect(() => {
    query("models.ofRun", { runId: run.id }).then(setCost, () => {});
  }, [run.id, run.steps.length, run.state]);
  return cost && html`<dt>Cost</dt><dd>${dollars(cost.spent.usd)} of at most ${dollars(cost.ceilingUsd)}</dd>`;
}

/** Said where something was spent; the rest stands in the settings. */
export function SpentToday() {
  const { data } = useFetched("models.usage");
  if (!data?.month.calls) return null;
  return html`<p class="fine">Models have cost you ${dollars(data.today.usd)} today, and ${
    dollars(data.month.usd)} in 30 days. <a href="/settings/models">Models</a></p>`;
}
