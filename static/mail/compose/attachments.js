// @ts-check
/**
 * The files of a message: chips to open or remove, the uploads under way, and the ways to add files (picker, drop,
 * paste).
 */
import { useLayoutEffect, useRef } from "preact/hooks";
import { UploadList } from "../../files/uploads.js";
import { fileSize } from "../../ui/format.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { fileIcon } from "../../files/icon.js";
import { attachedBytes } from "./checks.js";

/**
 * Scrolls an added file into view: it may be below the edge of the pane.
 * @param {{ files: OutgoingFile[], remove: (fileId: string) => void, uploads:
 * import("../../files/uploads.js").Upload[],
 *   cancel: (upload: import("../../files/uploads.js").Upload) => void }} props
 */
export function Attachments({ files, remove, uploads, cancel }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const count = files.length + uploads.length;
  const before = useRef(count);
  useLayoutEffect(() => {
    if (count > before.current) box.current?.scrollIntoView({ block: "nearest" });
    before.current = count;
  }, [count]);
  if (!count) return null;
  return html`<div class="compose-files" ref=${box}>
    <ul class="attachments" aria-label="Attachments">
      ${files.map((one) => html`<li key=${one.fileId} class="compose-file">
        <a class="attachment" href=${`/files/${encodeURIComponent(one.fileId)}/content`} download=${one.filename}
          title=${one.filename}>
          <${Icon} name=${fileIcon(one.mime)} size=${18} />
          <span class="attachment-name"><bdi>${one.filename}</bdi></span>
          <span class="attachment-size">${fileSize(one.size)}</span>
        </a>
        <button type="button" class="icon-button" aria-label=${`Remove ${one.filename}`}
          onClick=${() => remove(one.fileId)}><${Icon} name="close" size=${14} /></button>
      </li>`)}
    </ul>
    ${files.length > 1 && html`<p class="fine">${fileSize(attachedBytes({ attachments: files }))} together</p>`}
    <${UploadList} uploads=${uploads} cancel=${cancel} />
  </div>`;
}

/** @param {{ send: (files: File[]) => void }} props */
export function AttachButton({ send }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const chosen = (/** @type {{ currentTarget: HTMLInputElement }} */ event) => {
    send([...(event.currentTarget.files ?? [])]);
    event.currentTarget.value = ""; // the same file may be chosen again
  };
  return html`<input type="file" multiple hidden ref=${input} onChange=${chosen} />
    <button type="button" class="icon-button" aria-label="Attach files" title="Attach files"
      onClick=${() => input.current?.click()}><${Icon} name="clip" /></button>`;
}
