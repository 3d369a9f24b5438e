// @ts-check
/** The attachments of a message: each file once, with a preview if possible, and downloads of one file or all. */
import { fileIcon } from "../files/icon.js";
import { addressOf, canView } from "../files/viewer.js";
import { fileSize } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

const DAMAGED =
  "This part of the message is damaged on this server. Where that is possible it is mended by itself, and shown then.";

/** Removes duplicates: the same file under the same name. @param {Attachment[]} files */
export function onceEach(files) {
  const isSame = (/** @type {Attachment} */ one, /** @type {Attachment} */ other) =>
    one.sha256 === other.sha256 && one.filename === other.filename;
  return files.filter((file, at) => files.findIndex((one) => isSame(one, file)) === at);
}

/**
 * @param {{ files: Attachment[], look: (file: Attachment) => void, all: string }} props `all`: the address of the zip
 */
export function Attachments({ files, look, all }) {
  if (!files.length) return null;
  return html`<ul class="attachments" aria-label="Attachments">
    ${files.map((one) => html`<li key=${one.fileId}>${one.damaged ? html`<${Damaged} file=${one} />`
      : canView(one) ? html`<${Viewed} file=${one} look=${look} />` : html`<${Download} file=${one} />`}</li>`)}
    ${files.length > 1 && html`<li><a class="attachment" href=${all} download>
      <${Icon} name="download" size=${16} /> Save all ${files.length}</a></li>`}
  </ul>`;
}

/** @param {{ file: Attachment, look: (file: Attachment) => void }} props */
function Viewed({ file, look }) {
  return html`<span class="attachment-both">
    <button class="attachment" title=${file.filename} onClick=${() => look(file)}>
      <span class="sr-only">View </span><${Name} file=${file} />
    </button>
    <a class="attachment" href=${addressOf(file)} download=${file.filename} aria-label=${`Download ${file.filename}`}
      title="Download"><${Icon} name="download" size=${16} /></a>
  </span>`;
}

/** @param {{ file: Attachment }} props */
function Download({ file }) {
  return html`<a class="attachment" href=${addressOf(file)} download=${file.filename} title=${file.filename}>
    <span class="sr-only">Download </span><${Name} file=${file} /><${Icon} name="download" size=${16} />
  </a>`;
}

/** @param {{ file: Attachment }} props */
function Name({ file }) {
  return html`<${Icon} name=${fileIcon(file.mime)} size=${20} />
    <span class="attachment-name"><bdi>${file.filename}</bdi></span>
    <span class="attachment-size">${fileSize(file.size)}</span>`;
}

/** @param {{ file: Attachment }} props */
function Damaged({ file }) {
  return html`<span class="attachment damaged" title=${DAMAGED}>
    <${Icon} name="warning" size=${20} />
    <span class="attachment-name"><bdi>${file.filename}</bdi></span>
    <span class="attachment-size">damaged</span>
  </span>`;
}
