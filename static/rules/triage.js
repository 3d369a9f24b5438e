// @ts-check
/** Settings, Triage: whether new mail is sorted by kind, and the kinds that the person has chosen for senders. */
import { KIND_WORDS, triageOn } from "../mail/kinds.js";
import { mutate } from "../rpc.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";

export function TriageSection() {
  const fetched = useFetched("triage.get");
  const { busy, problem, run } = useAction();
  const found = fetched.data;
  const act = (/** @type {() => Promise<unknown>} */ work, /** @type {string} */ said) => run(async () => {
    await work();
    toast(said);
    await fetched.load();
  });
  const set = (/** @type {boolean} */ enabled, /** @type {boolean} */ asksModel, /** @type {string} */ said) =>
    act(async () => {
      triageOn.value = (await mutate("triage.set", { enabled, asksModel })).enabled;
    }, said);
  return html`<${Pending} of=${fetched} what="triage" />
    ${found && html`<section class="setting" aria-label="Triage">
      <p class="fine">Each mail that comes gets a kind: Needs reply, Waiting, Reading, Receipts, Calendar or Other. They
        are filters above your inbox; nothing is moved. In the list, the keys 1 to 6 say of what kind a thread really
        is, and that is remembered for its sender.</p>
      <label class="choice"><input type="checkbox" role="switch" checked=${found.enabled} aria-busy=${busy}
        onChange=${() => set(!found.enabled, found.asksModel, found.enabled ? "Triage is off."
          : "Triage is on: the newest of your inbox is sorted already.")} />
        <span>Sort my mail by kind</span></label>
      ${found.enabled && html`<label class="choice"><input type="checkbox" role="switch" checked=${found.asksModel}
        onChange=${() => set(true, !found.asksModel, "Saved.")} />
        <span>Ask the model where the rules are not sure<span class="fine rules-what">One call for each mail from a
          person; Models shows what it costs. The model reads the mail and answers one word.</span></span></label>`}
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
      ${found.learned.length > 0 && html`<h2>What you said of senders</h2>
        <ul class="rules-list">${found.learned.map(({ address, kind }) => html`<li key=${address} class="rules-row">
          <span class="triage-sender"><bdi>${address}</bdi>: ${KIND_WORDS[kind]}</span>
          <button class="button small" aria-label=${`Forget ${address}`} onClick=${() =>
            act(() => mutate("triage.forget", { address }), "It is forgotten.")}>Forget</button></li>`)}</ul>`}
    </section>`}`;
}
