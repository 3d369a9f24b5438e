// @ts-check
/** Git: the followed repository, its state, and the files that could not be imported. For admins. */
import { useEffect } from "preact/hooks";
import { now } from "../now.js";
import { pageHref } from "../pages/paths.js";
import { mutate } from "../rpc.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { ago, fullTime } from "../ui/format.js";
import { Nothing } from "../ui/empty.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { changes } from "./news.js";

/** @typedef {OutputOf<"gitops.status">} Status */

const MODES = {
  readonly: "Its pages are changed there alone.",
  "write-back": "Its pages may be changed here, too: each edit becomes a commit.",
};
const SHORT_ID = 10;

export function GitSection() {
  const status = useFetched("gitops.status");
  const told = changes.value;
  useEffect(() => {
    if (told > 0) void status.load();
  }, [told]);
  const found = status.data;
  return html`<section class="setting" aria-labelledby="git-title">
      <h2 id="git-title">Repository</h2>
      <${Pending} of=${status} what="how the repository stands" />
      ${found && (found.enabled ? html`<${Followed} status=${found} />` : html`<${Nothing} icon="git"
        title="No repository is followed"><p>Pages, rules and agents can come from a git repository, and each edit
        here can become a commit there.</p>
        <p class="fine">Set on the server, with a restart: <code>SVC_GITOPS_REPO</code></p></${Nothing}>`)}
    </section>
    ${found?.enabled && html`<${Conflicts} status=${found} /><${Problems} status=${found} />`}`;
}

/** @param {{ status: Status }} props */
function Followed({ status }) {
  const look = async () => {
    await mutate("gitops.sync");
    toast("Looking at the repository.");
  };
  return html`
    ${status.problem && html`<div class="notice bad" role="status"><${Icon} name="warning" />
      <div><p>${status.problem}</p><p>The last good version stays in use.</p></div></div>`}
    <dl class="git-facts">
      <dt>Repository</dt>
      <dd>${status.url ? html`<a href=${status.url} target="_blank" rel="noopener noreferrer">${status.repo}</a>`
        : html`<code>${status.repo}</code>`}</dd>
      <dt>Branch</dt><dd><code>${status.branch}</code>${status.path && html` in <code>${status.path}</code>`}</dd>
      <dt>Commit</dt><dd>${status.commit ? html`<code title=${status.commit}>${status.commit.slice(0, SHORT_ID)}</code>`
        : "none yet"}${status.wasForced && " · the branch was moved there by force"}</dd>
      <dt>Last sync</dt><dd>${status.lastSyncAt ? html`<span title=${fullTime(status.lastSyncAt)}>
        ${ago(status.lastSyncAt, now.value)}</span>: ${changed(status)}` : "none yet"}</dd>
      <dt>Asked</dt><dd>${status.checkedAt ? html`<span title=${fullTime(status.checkedAt)}>
        ${ago(status.checkedAt, now.value)}</span>` : "without an answer yet"}</dd>
      ${status.mode === "write-back" && html`<dt>Waiting</dt>
        <dd>${status.pending === 0 ? "nothing to write back" : `${status.pending} to write back`}
          ${status.writebackBranch && html` to <code>${status.writebackBranch}</code>`}
          ${status.requestUrl && html` · <a href=${status.requestUrl} target="_blank" rel="noopener noreferrer">Open a
            pull request</a>`}</dd>`}
    </dl>
    <p class="fine">${MODES[/** @type {keyof typeof MODES} */ (status.mode)]}</p>
    <${ConfirmButton} label="Sync now" run=${look} />`;
}

/** The conflicts that wait for a choice: it is made on the page. @param {{ status: Status }} props */
function Conflicts({ status }) {
  if (!status.conflicts.length) return null;
  return html`<section class="setting" aria-labelledby="git-conflicts-title">
    <h2 id="git-conflicts-title">Pages that wait for a choice</h2>
    <ul class="things">${status.conflicts.map((one) => html`<li key=${one.path} class="thing"><div class="thing-text">
      <p class="thing-title"><a href=${pageHref(one.path)}>${one.path}</a></p>
      <p>${one.reason}</p>
      <p class="fine">${one.file}, since <span title=${fullTime(one.at)}>${ago(one.at, now.value)}</span></p>
    </div></li>`)}</ul>
  </section>`;
}

/** @param {{ status: Status }} props */
function Problems({ status }) {
  const { problems, problemCount } = status;
  if (!problems.length) return null;
  return html`<section class="setting" aria-labelledby="git-problems-title">
    <h2 id="git-problems-title">Files with problems</h2>
    <ul class="things">${problems.map((one) => html`<li key=${one.file} class="thing"><div class="thing-text">
      <p class="thing-title git-file">${one.file}${one.line !== null && html`<span class="quiet-text">, line ${one.line}
        </span>`}</p>
      <p>${one.reason}</p></div></li>`)}</ul>
    ${problemCount > problems.length && html`<p class="fine">And ${problemCount - problems.length} more.</p>`}
  </section>`;
}

/** @param {Status} status */
function changed({ lastChange }) {
  if (!lastChange) return "nothing";
  const { added, changed: other, removed } = lastChange;
  const told = [[added, "added"], [other, "changed"], [removed, "removed"]]
    .filter(([count]) => count).map(([count, what]) => `${count} ${what}`);
  return told.join(", ") || "nothing to change";
}
