// @ts-check
/** One row of the list of files: name, where the file is used, size, time, and the actions for it. */
import { now } from "../now.js";
import { pageHref } from "../pages/paths.js";
import { fileSize, fullTime, listTime } from "../ui/format.js";
import { classes, html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { keysFor } from "../ui/key_words.js";
import { MenuButton, MenuItem } from "../ui/menu.js";
import { contentOf, isShown, open, remove, renaming } from "./actions.js";
import { fileIcon } from "./icon.js";
import { isPicture } from "./kinds.js";

/** @typedef {import("./reading.js").Listed} Listed */

/** A larger picture is not loaded for a thumbnail. */
const MAX_SMALL_BYTES = 500_000;
const ATTACHED = { draft: "attached to a draft", mail: "attached to a mail" };

/** @param {{ file: Listed, among: Listed[] }} props `among`: the files that the viewer can step through */
export function FileRow({ file, among }) {
  const look = (/** @type {MouseEvent} */ event) => {
    if (!isShown(file) || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    open(file, among);
  };
  return html`<li class="file-row" data-file=${file.id}>
    <${Small} file=${file} />
    <div class="file-text">
      <a class="file-link" href=${contentOf(file)} title=${file.name} download=${isShown(file) ? undefined : file.name}
        onClick=${look}><bdi>${file.name}</bdi></a>
      <${Belongs} file=${file} />
    </div>
    <span class="file-size">${fileSize(file.size)}</span>
    <time class="file-time" datetime=${file.createdAt} title=${fullTime(file.createdAt)}>${
      listTime(file.createdAt, now.value)}</time>
    <span class="file-actions">
      <a class="icon-button file-save" href=${contentOf(file)} download=${file.name} title="Download"
        aria-label=${`Download ${file.name}`}><${Icon} name="download" size=${18} /></a>
      <${MenuButton} id=${`file-menu-${file.id}`} class="icon-button" icon="answer-more" title="More"
        label=${`More for ${file.name}`} about=${file.name}>
        ${isShown(file) && html`<${MenuItem} icon="preview" words="Look at it" act=${() => open(file, among)} />`}
        <${MenuItem} icon="edit" words="Rename" keys=${keysFor("Files r")} act=${() => { renaming.value = file; }} />
        <${MenuItem} icon="trash" words="Delete" keys=${keysFor("Files #")} act=${() => remove(file)} />
      <//>
    </span>
  </li>`;
}

/** @param {{ file: Listed }} props */
function Small({ file }) {
  const pictured = isPicture(file) && file.size <= MAX_SMALL_BYTES;
  return html`<span class=${classes({ "file-icon": true, pictured })} aria-hidden="true">
    <${Icon} name=${fileIcon(file.mime, file.kind)} size=${20} />
    ${pictured && html`<img src=${contentOf(file)} alt="" loading="lazy" decoding="async"
      onError=${(/** @type {Event} */ event) => /** @type {HTMLElement} */ (event.target).remove()} />`}
  </span>`;
}

/** @param {{ file: Listed }} props */
function Belongs({ file }) {
  const { pages, attached } = file;
  if (!pages.length && !attached.length) return null;
  const words = attached.map((one) => ATTACHED[one]).join(", ");
  return html`<span class="file-belongs fine">
    ${pages.length > 0 && html`on ${pages.map(({ path, title }, at) => html`${at > 0 && ", "}<a key=${path}
      href=${pageHref(path)}><bdi>${title}</bdi></a>`)}`}
    ${pages.length > 0 && words && " · "}${words}</span>`;
}
