// @ts-check
/** The revisions of a page, newest first; an old one can be restored as a new revision. */
import { useEffect, useState } from "preact/hooks";
import { mutate, query } from "../rpc.js";
import { ConfirmButton } from "../ui/confirm.js";
import { now } from "../now.js";
import { fullTime, messageTime } from "../ui/format.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";
import { Dialog } from "./dialog.js";

/** @param {{ page: PageDetail, close: () => void, reload: () => Promise<void> }} props */
export function HistoryDialog({ page, close, reload }) {
  const [revisions, setRevisions] = useState(/** @type {PageRevision[] | null} */ (null));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    query("pages.history", { path: page.path }).then(setRevisions, (error) => setProblem(error.message));
  }, [page.path, page.revision]);
  const restore = async (/** @type {PageRevision} */ one) => {
    await mutate("pages.restore", { path: page.path, revision: one.revision });
    close();
    toast(`Revision ${one.revision} is the page again.`);
    await reload();
  };
  return html`<${Dialog} id="history-title" title="History" close=${close}>
    ${problem && html`<p class="form-problem" role="alert">Could not load the history: ${problem}</p>`}
    ${!revisions && !problem && html`<p class="quiet-text" role="status">Loading the history</p>`}
    <ol class="things">${revisions?.map((one) => html`<li class="thing" key=${one.revision}>
      <div class="thing-text">
        <p class="thing-title">Revision ${one.revision} ${one.revision === page.revision
          && html`<span class="badge open">Now</span>`}</p>
        <p class="fine">${one.title} · ${one.author?.name || "Somebody"} · <span title=${fullTime(one.at)}>
          ${messageTime(one.at, now.value)}</span></p>
      </div>
      ${page.canWrite && one.revision !== page.revision
        && html`<${ConfirmButton} label="Restore" what=${`revision ${one.revision}`} run=${() => restore(one)} />`}
    </li>`)}</ol>
  </${Dialog}>`;
}
