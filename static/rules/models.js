// @ts-check
/** Settings, Models: which model is used, what it has cost, and the limits of cost and tokens. */
import { useEffect, useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { Pending, reasonOf, useFetched } from "../settings/fetched.js";
import { dollars, plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";

/** @typedef {OutputOf<"models.usage">} Usage */

export function ModelsSection() {
  const fetched = useFetched("models.usage");
  return html`<${Pending} of=${fetched} what="what models cost" />
    ${fetched.data && html`<${Show} usage=${fetched.data} load=${fetched.load} />`}`;
}

/** @param {{ usage: Usage, load: () => Promise<void> }} props */
function Show({ usage, load }) {
  const { model, problem, price, today, month, everybody, ceilings } = usage;
  const [wanted, setWanted] = useState(ceilings);
  const [fault, setFault] = useState("");
  useEffect(() => setWanted(ceilings), [ceilings.dayUsd, ceilings.runUsd, ceilings.dayTokens]);
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setFault("");
    try {
      await mutate("models.setCeilings", wanted);
      toast("Saved.");
      await load();
    } catch (error) {
      setFault(reasonOf(error));
    }
  };
  const field = (/** @type {keyof typeof wanted} */ name, /** @type {string} */ label) =>
    html`<label class="field"><span>${label}</span><input type="number" min="0" step="any" value=${wanted[name]}
      onInput=${(/** @type {Event} */ event) => setWanted({ ...wanted,
        [name]: Number(/** @type {HTMLInputElement} */ (event.target).value) })} /></label>`;
  return html`<section class="setting" aria-label="Language models">
    <h2><bdi>${model}</bdi></h2>
    <p class="fine">${price.input + price.output > 0
      ? `A million tokens cost $${price.input} read and $${price.output} written.`
      : "It costs nothing."} Another model is set on the server: <code>SVC_MODEL</code></p>
    ${problem && html`<p class="form-problem" role="status">${problem}</p>`}
    <dl class="facts">
      <div><dt>You, today</dt><dd>${dollars(today.usd)} <span class="fine">in ${plural(today.calls, "call")}</span>
        </dd></div>
      <div><dt>You, in 30 days</dt><dd>${dollars(month.usd)}</dd></div>
      ${everybody && html`<div><dt>Everybody, today</dt><dd>${dollars(everybody.usd)} <span class="fine">in${" "}
        ${plural(everybody.calls, "call")}</span></dd></div>`}
    </dl>
    ${everybody && html`<form class="ceilings" onSubmit=${save}><h2>Ceilings</h2>
        ${field("dayUsd", "Dollars a day, for everybody together")}
        ${field("runUsd", "Dollars for one run")}
        ${field("dayTokens", "Tokens a day")}
        <button type="submit" class="button primary">Save</button>
        ${fault && html`<p class="form-problem" role="alert">${fault}</p>`}
      </form>`}
  </section>`;
}
