// @ts-check
/** A page for reading, with the buttons for the actions that this person may do. */
import { useLayoutEffect, useState } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { now } from "../now.js";
import { ago, fullTime } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { withKeys } from "../ui/key_words.js";
import { ConflictNotice } from "../gitops/conflict.js";
import { Correspondents } from "./correspondents.js";
import { HistoryDialog } from "./history.js";
import { ManageDialog } from "./manage.js";
import { ManagedNotice } from "./managed.js";
import { Markdown } from "./markdown.js";
import { pageHref, pathsAbove, lastPart } from "./paths.js";
import { AskButton } from "../runs/ask.js";
import { FromOutside, useMark } from "./from_outside.js";
import { SharingDialog } from "./sharing.js";

/** How links are shown, by whether the page is marked as written from outside (null: not known yet). */
const LINKS = new Map(/** @type {[boolean | null, import("./markdown.js").Links][]} */ (
  [[true, "inert"], [false, "live"], [null, "unknown"]]));
export const EDIT = { keys: ["e"], label: "Edit the page" };

/** @param {{ page: PageDetail, edit: () => void, reload: () => Promise<void> }} props */
export function PageView({ page, edit, reload }) {
  const [dialog, setDialog] = useState(/** @type {"history" | "sharing" | "manage" | null} */ (null));
  const [marked, setMarked] = useMark(page);
  const close = () => setDialog(null);
  const editable = page.canWrite;
  useLayoutEffect(() => {
    if (!editable) return undefined;
    return registerKeys("Page", [{ ...EDIT, run: edit }]);
  }, [editable]);
  return html`<article>
    <header class="page-head">
      <${Crumbs} path=${page.path} />
      <h1>${page.title}</h1>
      <p class="fine">
        ${page.owner && html`${page.owner.name || "Somebody"} · `}<span title=${fullTime(page.updatedAt)}>
          changed ${ago(page.updatedAt, now.value)}</span>
        ${!page.canWrite && " · you may read it"}
      </p>
      ${marked && html`<${FromOutside} page=${page} trusted=${() => setMarked(false)} />`}
      ${page.managed && html`<${ManagedNotice} managed=${page.managed} />`}
      ${page.managed?.inConflict && html`<${ConflictNotice} page=${page} reload=${reload} />`}
      <div class="page-actions">
        ${page.canWrite && html`<button class="button small primary" title=${withKeys("Edit", "Page e")}
          onClick=${edit}>
          <${Icon} name="edit" size=${16} /> Edit</button>`}
        <button class="button small" onClick=${() => setDialog("history")}><${Icon} name="history" size=${16} /> History
        </button>
        ${page.canShare && html`<button class="button small" onClick=${() => setDialog("sharing")}>
          <${Icon} name="people" size=${16} /> Share</button>`}
        <${AskButton} about=${page.title} input=${{ page: page.path }} class="button small" />
        ${page.kind === "page" && page.canWrite
          && html`<button class="button small" onClick=${() => setDialog("manage")}>
            <${Icon} name="settings" size=${16} /> Move or delete</button>`}
      </div>
    </header>
    ${page.body.trim() ? html`<${Markdown} text=${page.body} links=${LINKS.get(marked)} />`
      : html`<p class="quiet-text">This page is empty.</p>`}
    <${Correspondents} of=${page} />
    <${Backlinks} of=${page} />
    ${dialog === "history" && html`<${HistoryDialog} page=${page} close=${close} reload=${reload} />`}
    ${dialog === "sharing" && html`<${SharingDialog} page=${page} close=${close} reload=${reload} />`}
    ${dialog === "manage" && html`<${ManageDialog} page=${page} close=${close} />`}
  </article>`;
}

/** @param {{ path: string }} props */
export function Crumbs({ path }) {
  return html`<nav class="crumbs" aria-label="Where this page is">
    <a href="/p/">Pages</a>
    ${pathsAbove(path).reverse()
      .map((one) => html`<span aria-hidden="true">/</span><a key=${one} href=${pageHref(one)}>${lastPart(one)}</a>`)}
  </nav>`;
}

/** @param {{ of: PageDetail }} props */
function Backlinks({ of }) {
  if (!of.backlinks.length) return null;
  return html`<footer class="backlinks">
    <h2>Linked from</h2>
    <ul>${of.backlinks.map((one) => html`<li key=${one.path}><a href=${pageHref(one.path)}>${one.title}</a></li>`)}</ul>
  </footer>`;
}
