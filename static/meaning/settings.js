// @ts-check
/** Search by meaning: its switch, its cost, and the progress of the run that reads mail and pages. */
import { useEffect } from "preact/hooks";
import { mutate } from "../rpc.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { number } from "../ui/format.js";
import { html } from "../ui/html.js";

/** @typedef {OutputOf<"meaning.state">} State */

const LOOK_AGAIN_MS = 1_000;
const MICROS = 1_000_000;
const SMALLEST_USD = 0.01;

export function MeaningSection() {
  const state = useFetched("meaning.state");
  const { data, load } = state;
  useEffect(() => {
    if (!data?.runId) return undefined;
    const timer = setTimeout(() => void load(), LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [data, load]);
  return html`<section class="setting" aria-label="Search by meaning">
    <p class="fine">Mail and pages are also found by what they are about, in other words than theirs. For that their
      text goes to a model that makes vectors of it: subject, sender and new words of each mail, title and text of each
      page. Spam, trash and drafts stay here.</p>
    <${Pending} of=${state} what="search by meaning" />
    ${data && html`<${Show} state=${data} load=${load} />`}
  </section>`;
}

/** @param {{ state: State, load: () => Promise<void> }} props */
function Show({ state, load }) {
  /** @param {() => Promise<unknown>} act */
  const then = (act) => async () => {
    try {
      await act();
    } finally {
      await load();
    }
  };
  const set = (/** @type {boolean} */ on) => then(() => mutate("meaning.switch", { on }));
  const { problem, waitingFor, lastProblem, expected, read, items, before } = state;
  if (!state.on) {
    return html`<p>${whoIsAsked(state)} ${expectedCost(state)}</p>
      ${problem ? html`<p class="form-problem" role="status">${problem}</p>`
        : html`<${ConfirmButton} label="Switch on" calm run=${set(true)}
          question=${`${number(expected.items)} mails and pages are read. ${expectedCost(state)}`} />`}`;
  }
  const stop = then(() => mutate("runs.cancel", { id: state.runId ?? "" }));
  return html`<p>${number(read)} of ${number(items)} mails and pages ${before ? "have been read by the new model"
      : "can be found by meaning"}. ${whoIsAsked(state)}</p>
    ${before && html`<p>Until all are read, ${number(before.read)} are found by meaning with <bdi>${before.model}</bdi>,
      the model from before; newer ones are found by their words.</p>`}
    ${problem && html`<p class="form-problem" role="status">${problem}</p>`}
    ${waitingFor && html`<p class="form-problem" role="status">What came lately waits: ${waitingFor}</p>`}
    ${state.runId ? html`<${AtWork} state=${state} stop=${stop} />`
      : html`${state.lastRunId && html`<p class="fine"><a href=${`/p/runs/${state.lastRunId}`}>The last run</a> has
          cost ${usd(state.micros)}.</p>`}
        ${lastProblem && html`<p class="form-problem" role="status">It ended early: ${lastProblem}</p>`}
        ${expected.items > 0 && !problem && html`<${ConfirmButton} label="Read the rest" calm
          run=${then(() => mutate("meaning.index"))}
          question=${`${number(expected.items)} mails and pages are read. ${expectedCost(state)}`} />`}`}
    <${ConfirmButton} label="Switch off" run=${set(false)}
      question="All vectors of your mail and pages are forgotten. To have them again costs the same again." />`;
}

/** @param {{ state: State, stop: () => Promise<void> }} props */
function AtWork({ state, stop }) {
  const { progress } = state;
  const done = progress ? `: ${number(progress.done)} of ${number(progress.total)}` : "";
  return html`<p role="status">Reading${done}, which has cost ${usd(state.micros)} so far.${" "}
      <a href=${`/p/runs/${state.runId}`}>Show the run</a></p>
    ${progress && html`<progress max=${Math.max(progress.total, 1)} value=${progress.done}
      aria-label="Reading"></progress>`}
    <${ConfirmButton} label="Stop" what="reading" run=${stop} />`;
}

/** @param {State} state */
function whoIsAsked({ model, isOwnServer }) {
  return isOwnServer ? `${model} on your own server is asked.` : `Vendor B's ${model} is asked.`;
}

/** @param {State} state */
function expectedCost({ expected, isOwnServer }) {
  if (isOwnServer) return "It costs nothing.";
  const over = expected.micros > expected.ceiling
    ? ` One run may cost ${usd(expected.ceiling)}: it ends there, and goes on when you begin it again.` : "";
  return `It costs ${about(expected.micros)} (${number(expected.tokens)} tokens).${over}`;
}

/** @param {number} micros */
function about(micros) {
  return micros / MICROS < SMALLEST_USD ? usd(micros) : `about ${usd(micros)}`;
}

/** @param {number} micros */
function usd(micros) {
  const dollars = micros / MICROS;
  if (dollars === 0) return "$0";
  return dollars < SMALLEST_USD ? `less than $${SMALLEST_USD}` : `$${dollars.toFixed(2)}`;
}
