// @ts-check
/** The bar that replaces the list's own bar while threads are picked: how many, and the actions on them. */
import { useCloseRequest } from "../ui/close_request.js";
import { classes, html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { keysFor, withKeys } from "../ui/key_words.js";
import { MenuButton, MenuItem } from "../ui/menu.js";
import { number, plural } from "../ui/format.js";
import { onceCounted, pickMore } from "./everything.js";
import { listShown } from "./moving.js";
import { clearPicks, everything, openLists, picked, pickedThreads } from "./selection.js";
import { toolsFor } from "./tools.js";

/** The actions that have a button on a phone, too; one line has no room for more, so the others are in a menu. */
const FIRST = new Set(["archive", "inbox", "read", "unread", "trash"]);

/** @param {(threads: Thread[]) => void} run of a tool */
function actWith(run) {
  onceCounted(() => run(pickedThreads()));
}

export function BulkBar() {
  if (picked.value.size) for (const list of openLists()) void list.version.value; // what is picked may leave
  const threads = pickedThreads();
  const count = everything.value?.count ?? threads.length;
  const words = threads.length ? `${plural(count, "thread")} picked` : "";
  const tools = toolsFor(threads);
  const isInFront = threads.length > 0 && listShown();
  useCloseRequest(clearPicks, isInFront);
  return html`<span class="sr-only" role="status">${words}</span>
    ${threads.length > 0 && html`<div class="bulk" role="toolbar" aria-label="Picked threads">
      <button class="icon-button" aria-label="Pick nothing" title="Pick nothing (Esc)" onClick=${clearPicks}>
        <${Icon} name="close" /></button>
      <b class="bulk-count" aria-hidden="true">${number(count)}<span> picked</span></b>
      <button class="icon-button" aria-label="Pick all" title="Pick all (*)" onClick=${() => pickMore()}>
        <${Icon} name="pick-all" /></button>
      ${tools.map(({ icon, label, keys, run }) => html`<button key=${label} aria-label=${label}
        class=${classes({ "icon-button": true, "wide-only": !FIRST.has(icon) })} title=${withKeys(label, keys)}
        onClick=${() => actWith(run)}><${Icon} name=${icon} /></button>`)}
      <${MenuButton} id="bulk-menu" class="icon-button bulk-others" icon="answer-more" label="More" title="More"
        about="More to do with the picked threads">
        ${tools.filter(({ icon }) => !FIRST.has(icon)).map(({ icon, label, keys, run }) => html`<${MenuItem}
          key=${label} icon=${icon} words=${label} keys=${keysFor(keys)} act=${() => actWith(run)} />`)}
      </${MenuButton}>
    </div>`}`;
}
