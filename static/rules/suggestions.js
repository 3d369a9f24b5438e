// @ts-check
/** Suggested rules, made from what a person does again and again. Shown in the settings and in a thread. */
import { useEffect, useState } from "preact/hooks";
import { mutate, query } from "../rpc.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";

/** @typedef {OutputOf<"rules.suggestions">[number]} Suggestion */

/** @param {Suggestion} one */
function words({ deed, value, times, address }) {
  const did = deed === "archive" ? "archived" : deed === "star" ? "starred" : `given the label “${value}” to`;
  return html`You have ${did} ${times} threads of <bdi>${address}</bdi>.`;
}

/**
 * `done` is called when it was accepted or dismissed. `edit` opens it in the editor first.
 * @param {{ one: Suggestion, done: () => unknown, edit?: (one: Suggestion) => void }} props
 */
function Offer({ one, done, edit }) {
  const { busy, problem, run } = useAction();
  const act = (/** @type {() => Promise<unknown>} */ work, /** @type {string} */ said) => run(async () => {
    await work();
    toast(said);
    await done();
  });
  const { address, deed, value, title, rule } = one;
  return html`<span class="triage-sender">${words(one)}</span>
    <button class="button small" aria-busy=${busy} onClick=${() => act(() => mutate("rules.save", { title, rule }),
      "A rule does that from now on. You find it in Settings, Rules.")}>Let a rule do it</button>
    ${edit && html`<button class="button small" onClick=${() => edit(one)}>Look at it first</button>`}
    <button class="button small" aria-busy=${busy} onClick=${() => act(() =>
      mutate("rules.dismissSuggestion", { address, deed, value }), "It is not suggested again.")}>No, never</button>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}`;
}

/** @param {{ found: Suggestion[], load: () => Promise<void>, edit: (one: Suggestion) => void }} props */
export function Suggestions({ found, load, edit }) {
  if (!found.length) return null;
  return html`<section class="setting" aria-label="Suggested rules">
    <h2>Suggested rules</h2>
    <p class="fine">From what you do again and again. None is in force until you say so.</p>
    <ul class="rules-list">${found.map((one) => html`<li key=${`${one.deed} ${one.value} ${one.address}`}
      class="rules-row"><${Offer} one=${one} done=${load} edit=${edit} /></li>`)}</ul>
  </section>`;
}

/** In a thread: the first suggestion for its sender. @param {{ threadId: string }} props */
export function SuggestedRule({ threadId }) {
  const [one, setOne] = useState(/** @type {Suggestion | null} */ (null));
  useEffect(() => {
    query("rules.suggestions", { threadId }).then(([first]) => setOne(first ?? null), () => {});
  }, [threadId]);
  return one && html`<aside class="rules-row suggested-rule" aria-label="Suggested rule"><${Offer} one=${one}
    done=${() => setOne(null)} /></aside>`;
}
