// @ts-check
/**
 * Parts that a mail's HTML refers to by `cid:`: the frame drops them, so that they stand below it, as small pictures.
 */
import { useState } from "preact/hooks";
import { html } from "../ui/html.js";

const RASTER = new Set(["image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"]);

/** What the service gives out to be shown in place. @param {InlinePart} part */
export function isPicture(part) {
  return RASTER.has(part.mime.toLowerCase());
}

/** @param {{ parts: InlinePart[] }} props */
export function Pictures({ parts }) {
  if (!parts.length) return null;
  return html`<ul class="pictures" aria-label="Pictures in this message">
    ${parts.map((part) => html`<li key=${part.fileId}><${Picture} part=${part} /></li>`)}
  </ul>`;
}

/** @param {{ part: InlinePart }} props */
function Picture({ part }) {
  const [broken, setBroken] = useState(false);
  const address = `/files/${encodeURIComponent(part.fileId)}/content`;
  return html`<a class="picture" href=${address} download=${part.filename} title=${part.filename}>
    <span class="sr-only">Download </span>
    ${broken
      ? html`<span class="picture-name"><bdi>${part.filename}</bdi></span>`
      : html`<img src=${address} alt=${part.filename} loading="lazy" decoding="async"
        onError=${() => setBroken(true)} />`}
  </a>`;
}
