// @ts-check
/** An agent's run: what was said, what its model writes now, and a form to reply. Everything is shown as text. */
import { useEffect, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { fromHere } from "../router.js";
import { mutate, query } from "../rpc.js";
import { reasonOf } from "../settings/fetched.js";
import { useAction } from "../ui/action.js";
import { fullTime } from "../ui/format.js";
import { html } from "../ui/html.js";
import { runHref } from "./address.js";
import { givenIn } from "./given.js";

/** @typedef {OutputOf<"agents.talk">[number]} Said */

/**
 * The text that a run's model is writing now. `after`: how many answers the page had when it came; with one more, that
 * answer holds this text.
 */
const live = signal(/** @type {{ id: string, text: string, after: number } | null} */ (null));
/** How many answers the page of a run shows. */
let answers = 0;

/** @param {LiveEvent} event */
export function onSaid({ id, payload }) {
  const text = /** @type {{ text?: string } | null} */ (payload)?.text;
  if (typeof text === "string") live.value = { id, text, after: answers };
}

/** @param {{ run: RunDetail, ended: boolean, reload: () => Promise<void> }} props */
export function AgentTalk({ run, ended, reload }) {
  const { id } = run;
  const [outside, setOutside] = useState(/** @type {string | null} */ (null));
  const [said, setSaid] = useState(/** @type {Said[]} */ ([]));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    query("agents.trust", { runId: id }).then((found) => setOutside(found.outside), () => {});
  }, [id, run.steps.length]);
  useEffect(() => {
    let isWanted = true;
    query("agents.talk", { runId: id }).then((found) => {
      if (!isWanted) return;
      answers = answersIn(found);
      setSaid(found);
      setProblem("");
    }, (error) => isWanted && setProblem(reasonOf(error)));
    return () => {
      isWanted = false;
    };
  }, [run]);
  const now = live.value;
  const writing = !ended && now?.id === id && now.after >= answersIn(said) ? now.text : "";
  return html`<section class="setting" aria-label="What it says">
    ${outside && html`<p class="fine">It has read text from outside (${outside}): what it sends, fetches or changes for
      others waits for you.</p>`}
    ${problem && html`<p class="form-problem" role="alert">Could not load what was said: ${problem}</p>`}
    ${said.length > 0 && html`<ol class="run-talk">${said.map((one, at) => html`<${Message} key=${at} one=${one} />`)}
    </ol>`}
    ${writing ? html`<p class="run-said" aria-live="polite">${writing}</p>`
      : run.state === "running" && html`<p class="quiet-text" role="status">The agent is at work …</p>`}
    <${SayForm} id=${id} ended=${ended} reload=${reload} />
  </section>`;
}

/** @param {Said[]} said */
function answersIn(said) {
  return said.filter(({ by }) => by === "agent").length;
}

/** @param {{ one: Said }} props */
function Message({ one: { by, text, at, heard } }) {
  const isAgent = by === "agent";
  const { words, about } = isAgent ? { words: text, about: null } : givenIn(text);
  return html`<li><p class="fine" title=${fullTime(at)}>${isAgent ? "The agent" : "You"}${!heard && ", not heard yet"}${
    about && html`, about <a href=${about.href}><bdi>${about.name}</bdi></a>`}</p>
    ${words && html`<p class=${isAgent ? "run-said" : "run-told"}><bdi>${words}</bdi></p>`}</li>`;
}

/** @param {{ id: string, ended: boolean, reload: () => Promise<void> }} props */
function SayForm({ id, ended, reload }) {
  const [text, setText] = useState("");
  const { busy, problem, run } = useAction();
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (text.trim()) void run(say);
  };
  const say = async () => {
    const go = fromHere();
    const { runId } = await mutate("agents.say", { runId: id, text });
    setText((now) => (now === text ? "" : now)); // what was typed meanwhile stays
    if (runId !== id) go(runHref(runId));
    else await reload();
  };
  return html`<form class="approval-form" onSubmit=${submit}>
    <label class="field"><span>${ended ? "Go on with it" : "Tell it something"}</span>
      <textarea rows="2" value=${text} onInput=${(/** @type {InputEvent} */ event) =>
        setText(/** @type {HTMLTextAreaElement} */ (event.target).value)} /></label>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    <div class="approval-actions"><button class="button small primary" type="submit" aria-busy=${busy}>Send
      to the agent</button></div>
  </form>`;
}
