// @ts-check
/** The list of runs, newest first, with filters for state and workflow. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { now } from "../now.js";
import { navigate } from "../router.js";
import { mutate } from "../rpc.js";
import { isAdmin } from "../session.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { fullTime } from "../ui/format.js";
import { Nothing } from "../ui/empty.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";
import { runHref, runsHref, STATES } from "./address.js";
import { Progress, State } from "./badge.js";
import { focusNext } from "./focus.js";
import { SpentToday } from "./money.js";
import { useRuns } from "./reading.js";
import { hasEnded, runTimes, STATE_WORDS } from "./words.js";

/** @typedef {import("./address.js").Filter} Filter */

const LINKS = ".run-link";
/** @type {import("../keys.js").Shortcut[]} */
export const SHORTCUTS = [
  { keys: ["j"], label: "Next run", run: () => focusNext(LINKS, 1), repeats: true },
  { keys: ["k"], label: "Previous run", run: () => focusNext(LINKS, -1), repeats: true },
  { keys: ["u", "Escape"], label: "Back to the inbox", run: () => navigate("/p/mail") },
];

/** @param {{ filter: Filter }} props */
export function RunsPage({ filter }) {
  const [workflows, setWorkflows] = useState(/** @type {string[]} */ ([]));
  useLayoutEffect(() => registerKeys("Runs", SHORTCUTS), []);
  useEffect(() => {
    document.title = "Runs – svc";
  }, []);
  const seen = (/** @type {Run[]} */ runs) => setWorkflows((known) => {
    const all = [...new Set([...known, ...runs.map(({ workflow }) => workflow)])].sort();
    return all.length === known.length ? known : all;
  });
  return html`<main class="panel scrolls runs"><div class="page-frame">
    <h1>Runs</h1>
    <${SpentToday} />
    <${Filters} filter=${filter} workflows=${workflows} />
    <${List} key=${runsHref(filter)} filter=${filter} seen=${seen} />
  </div></main>`;
}

/** @param {{ filter: Filter, workflows: string[] }} props */
function Filters({ filter, workflows }) {
  const { state, workflow } = filter;
  const offered = [...new Set([...(workflow ? [workflow] : []), ...workflows])];
  return html`<div class="runs-filters">
    <nav class="runs-states" aria-label="By state">${[null, ...STATES].map((one) => html`<a key=${one}
      href=${runsHref({ ...filter, state: one })} aria-current=${one === state ? "page" : undefined}>${
        one ? STATE_WORDS[one].title : "All"}</a>`)}</nav>
    ${offered.length > 1 && html`<label class="runs-workflow"><span>Workflow</span>
      <select value=${workflow ?? ""} onChange=${(/** @type {Event} */ event) => navigate(runsHref({ ...filter,
        workflow: /** @type {HTMLSelectElement} */ (event.target).value || null }))}>
        <option value="">All</option>
        ${offered.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select></label>`}
  </div>`;
}

/** @param {{ filter: Filter, seen: (runs: Run[]) => void }} props */
function List({ filter, seen }) {
  const found = useRuns(filter);
  const runs = found.data?.runs ?? [];
  useEffect(() => seen(runs), [found.data]);
  const users = useFetched("users.list", isAdmin() && runs.some((run) => !run.mine));
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  const next = useRef(Infinity);
  const more = () => {
    next.current = runs.length;
    void found.more();
  };
  // The first of the new runs gets the focus once they are drawn, since the button may be gone.
  useLayoutEffect(() => {
    if (runs.length <= next.current) return;
    const first = /** @type {HTMLElement | null | undefined} */ (
      list.current?.children[next.current]?.querySelector("a, button"));
    next.current = Infinity;
    first?.focus();
  }, [runs.length]);
  return html`<section class="setting runs-list" aria-label="Runs">
    <${Pending} of=${found} what="the runs" />
    ${found.data && !runs.length && html`<${Empty} filter=${filter} />`}
    ${filter.state === "failed" && runs.some((run) => run.mine && !run.parentId)
      && html`<${RetryFailed} workflow=${filter.workflow} changed=${found.load} />`}
    <ul class="things" ref=${list}>${runs.map((run) =>
      html`<${RunRow} key=${run.id} run=${run} owner=${ownerOf(run, users.data)} changed=${found.load} />`)}</ul>
    ${found.data?.nextCursor && html`<button class="button" onClick=${more}>Show more</button>`}
  </section>`;
}

/** @param {{ filter: Filter }} props */
function Empty({ filter }) {
  if (filter.state || filter.workflow) {
    return html`<p class="quiet-text">No such run. <a href="/p/runs">Show all</a></p>`;
  }
  return html`<${Nothing} icon="runs" title="Nothing has run yet">
    <p>Here you see what your agents do, and long work that goes on after a restart.</p>
    <p><a class="button" href="/settings/agents">Agents</a></p></${Nothing}>`;
}

/**
 * Retries all failed runs, for example after a ceiling was raised.
 * @param {{ workflow: string | null, changed: () => Promise<void> }} props
 */
function RetryFailed({ workflow, changed }) {
  const run = async () => {
    const { retried, more } = await mutate("runs.retryFailed", { workflow });
    toast(`${retried === 1 ? "One run goes" : `${retried} runs go`} on.${more ? " There are more: retry again." : ""}`);
    await changed();
  };
  return html`<p><${ConfirmButton} label="Retry all" sure="Retry them" calm run=${run}
    question=${"Your failed runs here go on where they stopped, also those not shown yet. "
      + "Asking models may cost again."} /></p>`;
}

/** The owner's name; "" for the user's own run. @param {Run} run @param {Member[] | null} users */
function ownerOf({ mine, owner }, users) {
  if (mine) return "";
  const user = users?.find((one) => one.id === owner);
  return user?.name || user?.email || "somebody else";
}

/**
 * Of other users' runs, an admin sees only that they exist, and may stop them.
 * @param {{ run: Run, owner: string, changed: () => Promise<void> }} props
 */
export function RunRow({ run, owner, changed }) {
  const { id, title, state, mine, createdAt } = run;
  const cancel = async () => {
    await mutate("runs.cancel", { id });
    await changed();
  };
  return html`<li class="thing run-row">
    <div class="thing-text">
      <p class="thing-title">${mine ? html`<a class="run-link" href=${runHref(id)}><bdi>${title}</bdi></a>`
        : html`<bdi>${title}</bdi>`} <${State} ...${STATE_WORDS[state]} /></p>
      <p class="fine"><span title=${`Queued ${fullTime(createdAt)}`}>${
        runTimes(run, now.value)}</span>${owner && html` · of <bdi>${owner}</bdi>`}</p>
      <${Progress} run=${run} />
    </div>
    ${!mine && !hasEnded(state) && html`<${ConfirmButton} label="Cancel" what=${title} run=${cancel}
      question="It stops, and so does all that it began." sure="Stop it" />`}
  </li>`;
}
