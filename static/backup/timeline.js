// @ts-check
/** The timeline: recovery points by day, the newest first; the admin chooses one and restores it. */
import { useState } from "preact/hooks";
import { ConfirmButton } from "../ui/confirm.js";
import { fileSize, fullTime, plural } from "../ui/format.js";
import { html } from "../ui/html.js";

/** @typedef {OutputOf<"backup.status">["recoveryPoints"][number]} Point */

const SHOWN_AT_FIRST = 5;

/** @param {{ points: readonly Point[], run: (point: string) => Promise<void> }} props */
export function Timeline({ points, run }) {
  const [all, setAll] = useState(false);
  const shown = all ? points : points.slice(0, SHOWN_AT_FIRST);
  return html`<ol class="backup-timeline" aria-label="Recovery points, the newest first">
      ${shown.map((point) => html`<li key=${point.id} class="backup-point" data-complete=${point.complete}>
        <div>
          <p class="thing-title"><time datetime=${point.at}>${fullTime(point.at)}</time>
            ${!point.complete && html` <span class="badge">not whole</span>`}</p>
          <p class="fine">${plural(point.blobs, "item")} of mail and files, ${fileSize(point.bytes)}</p>
        </div>
        <${ConfirmButton} label="Restore to a new folder" what=${fullTime(point.at)} run=${() => run(point.id)} />
      </li>`)}
    </ol>
    ${!all && points.length > SHOWN_AT_FIRST && html`<button class="button small" onClick=${() => setAll(true)}>
      Show ${points.length - SHOWN_AT_FIRST} more</button>`}`;
}
