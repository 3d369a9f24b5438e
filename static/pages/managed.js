// @ts-check
/** The notice on a page that is a file in a git repository: the file, who changed it last, where it can be changed. */
import { now } from "../now.js";
import { ago, fullTime } from "../ui/format.js";
import { html } from "../ui/html.js";

const SHORT_ID = 10;

/** @param {{ managed: NonNullable<PageDetail["managed"]> }} props */
export function ManagedNotice({ managed }) {
  const { file, commit, url, author, at, tags, editable } = managed;
  return html`<aside class="page-managed" aria-label="Where this page comes from">
    <p>From <code>${file}</code> in git${author && html`, changed by ${author}`}
      ${at && html` <span title=${fullTime(at)}>${ago(at, now.value)}</span>`}
      ${" "}in <code title=${commit}>${commit.slice(0, SHORT_ID)}</code>.
      ${editable ? " An edit here becomes a commit there." : " It is changed there, and not here."}
      ${url && html` <a href=${url} target="_blank" rel="noopener noreferrer">Open the file</a>`}</p>
    ${tags.length > 0 && html`<ul class="page-tags" aria-label="Tags">
      ${tags.map((one) => html`<li key=${one} class="badge">${one}</li>`)}</ul>`}
  </aside>`;
}
