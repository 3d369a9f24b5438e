// @ts-check
/** An agent's run: the text that its model writes now, its answer, and a form to reply. Everything is shown as text. */
import { useEffect, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { fromHere } from "../router.js";
import { mutate, query } from "../rpc.js";
import { useDeed } from "../ui/deed.js";
import { html } from "../ui/html.js";
import { runHref } from "./address.js";

/** The text that a run's model is writing now. */
const live = signal(/** @type {{ id: string, text: string } | null} */ (null));

/** @param {LiveEvent} event */
export function onSaid({ id, payload }) {
  const text = /** @type {{ text?: string } | null} */ (payload)?.text;
  if (typeof text === "string") live.value = { id, text };
}

/** @param {{ run: RunDetail, ended: boolean }} props */
export function AgentTalk({ run, ended }) {
  const { id, output } = run;
  const [outside, setOutside] = useState(/** @type {string | null} */ (null));
  const answer = /** @type {{ text?: string } | null} */ (output)?.text;
  useEffect(() => {
    query("agents.trust", { runId: id }).then((found) => setOutside(found.outside), () => {});
  }, [id, run.steps.length]);
  const said = !ended && live.value?.id === id ? live.value.text : "";
  return html`<section class="setting" aria-label="What it says">
    ${outside && html`<p class="fine">It has read text from outside (${outside}): what it sends, fetches or changes for
      others waits for you.</p>`}
    ${said && html`<p class="run-said" aria-live="polite">${said}</p>`}
    ${answer && html`<p class="run-said"><bdi>${answer}</bdi></p>`}
    <${SayForm} id=${id} ended=${ended} />
  </section>`;
}

/** @param {{ id: string, ended: boolean }} props */
function SayForm({ id, ended }) {
  const [text, setText] = useState("");
  const { busy, problem, run } = useDeed();
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (text.trim()) void run(say);
  };
  const say = async () => {
    const go = fromHere();
    const { runId } = await mutate("agents.say", { runId: id, text });
    setText((now) => (now === text ? "" : now)); // what was typed meanwhile stays
    if (runId !== id) go(runHref(runId));
  };
  return html`<form class="approval-form" onSubmit=${submit}>
    <label class="field"><span>${ended ? "Go on with it" : "Tell it something"}</span>
      <textarea rows="2" value=${text} onInput=${(/** @type {InputEvent} */ event) =>
        setText(/** @type {HTMLTextAreaElement} */ (event.target).value)} /></label>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    <div class="approval-deeds"><button class="button small primary" type="submit" aria-busy=${busy}>Send
      to the agent</button></div>
  </form>`;
}
