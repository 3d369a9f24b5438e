// @ts-check
/** The export of everything: one archive, the pages as files, and the faults of these files. For admins. */
import { now } from "../now.js";
import { pageHref } from "../pages/paths.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { ago, fullTime } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

/** @typedef {OutputOf<"okf.status">} Status */

export function ExportSection() {
  const status = useFetched("okf.status");
  const found = status.data;
  return html`<section class="setting" aria-labelledby="export-title">
      <h2 id="export-title">Download everything</h2>
      <p>One archive in open formats: mail as mbox with its labels, pages as Markdown, files, the rest as JSON, and a
        manifest with hashes. <code>svc import</code> brings it into an empty home.</p>
      <p class="notice"><${Icon} name="warning" /><span>It holds what is private to anybody here. Keep it as you would
        keep the disk of this server. A public cell gives it only while you are alone there.</span></p>
      <p><a class="button" href="/export" download>Download everything</a></p>
    </section>
    <section class="setting" aria-labelledby="okf-title">
      <h2 id="okf-title">Pages as files</h2>
      <${Pending} of=${status} what="how the files of pages stand" />
      ${found && html`<${Files} status=${found} />`}
    </section>`;
}

/** @param {{ status: Status }} props */
function Files({ status }) {
  if (!status.enabled) {
    return html`<p class="quiet-text">Pages are not written as files on a public cell.</p>`;
  }
  return html`<p>${counted(status.pages, "page is also a file", "pages are also files")} below <code>okf/</code> in the
      home${status.waiting > 0 ? html`, and ${status.waiting} more will be in a moment` : ""}. A file that is edited
      there becomes a revision.</p>
    ${status.conflicts.length > 0 && html`<p role="status">These were edited there, and the page stayed as it is:</p>
      <ul class="things">${status.conflicts.map((one) => html`<li key=${one.file} class="thing"><div class="thing-text">
        <p class="thing-title"><a href=${pageHref(one.path)}>${one.file}</a></p>
        <p>${one.reason}${one.kept && html` What was written is in <code>${one.kept}</code>.`}</p>
        <p class="fine"><time dateTime=${one.at} title=${fullTime(one.at)}>${ago(one.at, now.value)}</time></p>
      </div></li>`)}</ul>`}
    ${status.problems.length > 0 && html`<p>These can be no files:</p>
      <ul class="things">${status.problems.map((one) => html`<li key=${one.path} class="thing"><div class="thing-text">
        <p class="thing-title"><a href=${pageHref(one.path)}>${one.path}</a></p><p>${one.reason}</p>
      </div></li>`)}</ul>`}`;
}

/** @param {number} count @param {string} one @param {string} more */
function counted(count, one, more) {
  return `${count} ${count === 1 ? one : more}`;
}
