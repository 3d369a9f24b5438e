// @ts-check
/**
 * The parts that a mail's HTML refers to by `cid:`. The frame drops them, so they are shown below it, as small
 * pictures.
 */
import { useState } from "preact/hooks";
import { html } from "../ui/html.js";

/** @param {{ parts: InlinePart[], look: (part: InlinePart) => void }} props `look`: shows one of them large */
export function Pictures({ parts, look }) {
  if (!parts.length) return null;
  return html`<ul class="pictures" aria-label="Pictures in this message">
    ${parts.map((part) => html`<li key=${part.fileId}><${Picture} part=${part} look=${look} /></li>`)}
  </ul>`;
}

/** @param {{ part: InlinePart, look: (part: InlinePart) => void }} props */
function Picture({ part, look }) {
  const [broken, setBroken] = useState(false);
  const address = `/files/${encodeURIComponent(part.fileId)}/content`;
  if (broken) return html`<a class="picture" href=${address} download=${part.filename} title=${part.filename}>
    <span class="sr-only">Download </span><span class="picture-name"><bdi>${part.filename}</bdi></span></a>`;
  return html`<button class="picture" title=${part.filename} onClick=${() => look(part)}>
    <span class="sr-only">View </span>
    <img src=${address} alt=${part.filename} loading="lazy" decoding="async" onError=${() => setBroken(true)} />
  </button>`;
}
