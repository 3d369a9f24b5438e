// @ts-check
/**
 * The bar that takes the place of the list's own while threads are picked: how many, and what can be done with them.
 */
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { withKeys } from "../ui/key_words.js";
import { number, plural } from "../ui/format.js";
import { pickMore } from "./everything.js";
import { clearPicks, everything, openLists, picked, pickedThreads } from "./selection.js";
import { toolsFor } from "./tools.js";

export function BulkBar() {
  if (picked.value.size) for (const list of openLists()) void list.version.value; // what is picked may leave
  const threads = pickedThreads();
  const count = everything.value?.count ?? threads.length;
  const words = threads.length ? `${plural(count, "thread")} picked` : "";
  return html`<span class="sr-only" role="status">${words}</span>
    ${threads.length > 0 && html`<div class="bulk" role="toolbar" aria-label="Picked threads">
      <button class="icon-button" aria-label="Pick nothing" title="Pick nothing (Esc)" onClick=${clearPicks}>
        <${Icon} name="close" /></button>
      <b class="bulk-count" aria-hidden="true">${number(count)}<span> picked</span></b>
      <button class="icon-button" aria-label="Pick all" title="Pick all (*)" onClick=${() => pickMore()}>
        <${Icon} name="pick-all" /></button>
      ${toolsFor(threads).map(
        ({ icon, label, keys, run }) => html`<button key=${label} class="icon-button" aria-label=${label}
          title=${withKeys(label, keys)} onClick=${() => run(threads)}>
          <${Icon} name=${icon} />
        </button>`,
      )}
    </div>`}`;
}
