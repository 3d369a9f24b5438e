// @ts-check
/**
 * The viewer: shows images, sound, videos, PDFs and plain text in a dialog above the page, one file at a time.
 *
 * A file from an unknown sender is never opened as a document: an image is an `img`, a text is plain text, sound and
 * videos are played, and PDF pages are drawn by code that is loaded with the first PDF. Other types can only be
 * downloaded.
 */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { fileSize } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { Modal } from "../ui/modal.js";
import { isFilm, isPdf, isPicture, isSound, isText } from "./kinds.js";

/** Of a longer text, only the beginning is shown. */
const TEXT_BYTES = 262_144;

/** @typedef {{ filename: string, fileId: string, mime: string, size: number, damaged?: boolean }} Part */

const viewed = signal(/** @type {{ parts: Part[], at: number } | null} */ (null));

/** @param {Part} part */
export function canView(part) {
  return !part.damaged && [isPicture, isText, isPdf, isSound, isFilm].some((is) => is(part));
}

/** @param {Part} part one of `among` @param {Part[]} among the files that the viewer can step through */
export function view(part, among) {
  const parts = among.filter(canView);
  viewed.value = { parts, at: parts.indexOf(part) };
}

/** @param {Part} part */
export function addressOf({ fileId }) {
  return `/files/${encodeURIComponent(fileId)}/content`;
}

export function Viewer() {
  const last = useRef(/** @type {HTMLElement | null} */ (null));
  if (!viewed.value) return null;
  const { parts, at } = viewed.value;
  const part = /** @type {Part} */ (parts[at]);
  const close = () => {
    viewed.value = null;
  };
  const go = (/** @type {number} */ to) => {
    viewed.value = { parts, at: Math.max(0, Math.min(to, parts.length - 1)) };
    last.current?.focus();
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    /** @type {Record<string, number>} */
    const places = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: parts.length - 1 };
    const to = places[event.key];
    const plays = event.target instanceof HTMLMediaElement; // its keys move within the recording
    if (to === undefined || plays || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return html`<${Modal} label=${part.filename} class="viewer" close=${close}>
    <div class="viewer-all" onKeyDown=${onKeyDown}>
      <header class="viewer-head">
        <div class="viewer-title"><span class="viewer-name"><bdi>${part.filename}</bdi></span>
          <span class="viewer-about">${fileSize(part.size)}
            ${parts.length > 1 && html`<span role="status"> · ${at + 1} of ${parts.length}</span>`}</span></div>
        ${parts.length > 1 && html`
          <button class="icon-button" aria-label="Previous" title="Previous (←)" disabled=${at === 0}
            onClick=${() => go(at - 1)}><${Icon} name="back" /></button>
          <button class="icon-button" aria-label="Next" title="Next (→)" disabled=${at === parts.length - 1}
            onClick=${() => go(at + 1)}><${Icon} name="chevron" /></button>`}
        <a class="icon-button" href=${addressOf(part)} download=${part.filename} aria-label="Download" title="Download">
          <${Icon} name="download" /></a>
        <button class="icon-button" ref=${last} aria-label="Close" title="Close (Esc)" autofocus onClick=${close}>
          <${Icon} name="close" /></button>
      </header>
      <div class="viewer-body" key=${part.fileId}>
        <${Shown} part=${part} />
      </div>
    </div>
  <//>`;
}

/** @param {{ part: Part }} props */
function Shown({ part }) {
  if (isPicture(part)) return html`<${Picture} part=${part} />`;
  if (isPdf(part)) return html`<${Pdf} part=${part} />`;
  if (isSound(part) || isFilm(part)) return html`<${Played} part=${part} />`;
  return html`<${Text} part=${part} />`;
}

/** Plays sound or a video, until the component is unmounted. @param {{ part: Part }} props */
function Played({ part }) {
  const [broken, setBroken] = useState(false);
  if (broken) return html`<p class="viewer-problem" role="alert">This browser can't play it. Download it.</p>`;
  const play = isFilm(part) ? "video" : "audio";
  return html`<${play} class="viewer-played" src=${addressOf(part)} controls preload="metadata" playsinline
    aria-label=${part.filename} onError=${() => setBroken(true)} />`;
}

/** @param {{ part: Part }} props */
function Picture({ part }) {
  const [broken, setBroken] = useState(false);
  if (broken) return html`<p class="viewer-problem" role="alert">This picture can't be shown. Download it.</p>`;
  return html`<img src=${addressOf(part)} alt=${part.filename} onError=${() => setBroken(true)} />`;
}

/** @param {{ part: Part }} props */
function Pdf({ part }) {
  const [loaded, setLoaded] = useState(/** @type {{ PdfPages: typeof import("./pdf_pages.js").PdfPages } | null} */ (
    null));
  const [problem, setProblem] = useState(false);
  useEffect(() => {
    import("./pdf_pages.js").then(setLoaded, () => setProblem(true));
  }, []);
  if (problem) return html`<p class="viewer-problem" role="alert">What shows PDFs was not loaded. Download it.</p>`;
  if (!loaded) return html`<p class="viewer-problem" role="status">Loading</p>`;
  return html`<${loaded.PdfPages} address=${addressOf(part)} size=${part.size} />`;
}

/** @param {{ part: Part }} props */
function Text({ part }) {
  const [words, setWords] = useState(/** @type {string | null} */ (null));
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const leaving = new AbortController();
    read(part, leaving.signal).then(setWords, (error) => {
      if (!leaving.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => leaving.abort();
  }, [part.fileId]);
  if (problem) return html`<p class="viewer-problem" role="alert">Could not load it: ${problem}</p>`;
  if (words === null) return html`<p class="viewer-problem" role="status">Loading</p>`;
  return html`<pre dir="auto" tabindex="0">${words}</pre>
    ${part.size > TEXT_BYTES && html`<p class="viewer-problem">This is its beginning. Download it to see all.</p>`}`;
}

/** The beginning of a file, as text. @param {Part} part @param {AbortSignal} signal */
async function read(part, signal) {
  const headers = new Headers(part.size > TEXT_BYTES ? [["range", `bytes=0-${TEXT_BYTES - 1}`]] : []);
  const answer = await fetch(addressOf(part), { headers, signal });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return answer.text();
}
