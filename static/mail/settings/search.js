// @ts-check
/** Search: how much of the mail is indexed, and the rebuilding of the index, as a run. For admins. */
import { useEffect } from "preact/hooks";
import { mutate } from "../../rpc.js";
import { Pending, useFetched } from "../../settings/fetched.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { html } from "../../ui/html.js";

/** @typedef {OutputOf<"search.state">} SearchState */

const LOOK_AGAIN_MS = 1_000;

export function SearchSection() {
  const state = useFetched("search.state");
  const { data, load } = state;
  useEffect(() => {
    if (!data?.runId) return undefined;
    const timer = setTimeout(() => void load(), LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [data, load]);
  const begin = async () => {
    try {
      await mutate("search.reindex");
    } finally {
      await load();
    }
  };
  const stop = async () => {
    try {
      if (data?.runId) await mutate("runs.cancel", { id: data.runId });
    } finally {
      await load();
    }
  };
  return html`<section class="setting" aria-labelledby="search-title">
    <h2 id="search-title">Search index</h2>
    <p class="fine">Search finds words in the index. If something is not found that is there, make the index anew:
      searching goes on meanwhile, and nothing is lost when the server stops in between.</p>
    <${Pending} of=${state} what="the state of the index" />
    ${data && html`<p>${data.indexed.toLocaleString()} of ${data.messages.toLocaleString()} messages can be
      found${data.waiting > 0 ? `; ${data.waiting.toLocaleString()} wait for the index` : ""}.</p>`}
    ${data?.runId
      ? html`<${AtWork} state=${data} stop=${stop} />`
      : data && html`<${ConfirmButton} label="Re-index everything" calm run=${begin}
          question="The words of all mail are taken anew. With much mail this takes a while." />`}
  </section>`;
}

/** @param {{ state: SearchState, stop: () => Promise<void> }} props */
function AtWork({ state, stop }) {
  const { progress, runId } = state;
  return html`<p role="status">Re-indexing${progress
      ? `: ${progress.done.toLocaleString()} of ${progress.total.toLocaleString()} messages`
      : ""}. <a href=${`/p/runs/${runId}`}>Show the run</a></p>
    ${progress && html`<progress max=${Math.max(progress.total, 1)} value=${progress.done}
      aria-label="Re-indexing"></progress>`}
    <${ConfirmButton} label="Stop" what="re-indexing" run=${stop} />`;
}
