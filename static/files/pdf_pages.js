// @ts-check
/** The pages of a PDF in a column. Each is drawn when it comes near the visible part, and freed when it leaves. */
import { useEffect, useRef, useState } from "preact/hooks";
import { html } from "../ui/html.js";
import { MAX_BYTES, MAX_PAGES, OpenPdf } from "./pdf_document.js";

/** How far outside the visible part a page is drawn, in percent of its height. */
const NEAR = "75%";
const A4_RATIO = Math.SQRT2;

/** @param {{ address: string, size: number }} props `size` in bytes */
export function PdfPages({ address, size }) {
  const [pdf, setPdf] = useState(/** @type {OpenPdf | null} */ (null));
  const [pages, setPages] = useState({ count: 0, ratio: A4_RATIO });
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const leaving = new AbortController();
    const opening = new OpenPdf();
    const tell = (/** @type {unknown} */ error) => {
      opening.close();
      if (!leaving.signal.aborted) setProblem(wordsOf(error));
    };
    opening.failed.catch(tell);
    bytesOf(address, size, leaving.signal).then((data) => opening.open(data)).then((found) => {
      setPages(found);
      setPdf(opening);
    }).catch(tell);
    return () => {
      leaving.abort();
      opening.close();
    };
  }, [address]);
  if (problem) return html`<p class="viewer-problem" role="alert">${problem}</p>`;
  if (!pdf) return html`<p class="viewer-problem" role="status">Loading</p>`;
  const shown = Math.min(pages.count, MAX_PAGES);
  return html`<div class="viewer-pages" tabindex="0" role="group" aria-label="Pages">
    ${Array.from({ length: shown }, (_, at) => html`<${Page} key=${at} pdf=${pdf} number=${at + 1} count=${pages.count}
      ratio=${pages.ratio} fail=${(/** @type {unknown} */ error) => setProblem(wordsOf(error))} />`)}
    ${pages.count > shown && html`<p class="viewer-problem">These are its first ${shown} of ${pages.count} pages.
      Download it to see all.</p>`}
  </div>`;
}

/**
 * @param {{ pdf: OpenPdf, number: number, count: number, ratio: number, fail: (error: unknown) => void }} props
 *   `ratio`: height divided by width, used until the page's own ratio is known
 */
function Page({ pdf, number, count, ratio, fail }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [isNear, setIsNear] = useState(false);
  const [drawn, setDrawn] = useState({ ratio, text: "" });
  useEffect(() => {
    const element = /** @type {HTMLDivElement} */ (box.current);
    const observer = new IntersectionObserver(([entry]) => setIsNear(Boolean(entry?.isIntersecting)), {
      root: element.parentElement,
      rootMargin: `${NEAR} 0px`,
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (!isNear || !box.current) return undefined;
    const leaving = new AbortController();
    const canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Page ${number} of ${count}`);
    const width = Math.ceil(box.current.clientWidth * devicePixelRatio);
    pdf.draw(number, canvas, width, leaving.signal).then((found) => {
      if (leaving.signal.aborted) return;
      setDrawn(found);
      box.current?.prepend(canvas);
    }).catch((error) => {
      if (!leaving.signal.aborted) fail(error);
    });
    return () => {
      leaving.abort();
      canvas.remove();
      canvas.width = canvas.height = 0; // frees its memory now, not at the next garbage collection
    };
  }, [isNear, pdf]);
  return html`<div class="viewer-page" ref=${box} style=${{ aspectRatio: `1 / ${drawn.ratio}` }}>
    <p class="sr-only">${drawn.text}</p></div>`;
}

/** @param {string} address @param {number} size @param {AbortSignal} signal */
async function bytesOf(address, size, signal) {
  if (size > MAX_BYTES) throw new TooLarge();
  const answer = await fetch(address, { signal });
  if (!answer.ok) throw new NotLoaded(`the server answered ${answer.status}`);
  const data = await answer.arrayBuffer();
  if (data.byteLength > MAX_BYTES) throw new TooLarge();
  return new Uint8Array(data);
}

class TooLarge extends Error {}
class NotLoaded extends Error {}

/** @param {unknown} error */
function wordsOf(error) {
  const name = error instanceof Error ? error.name : "";
  if (error instanceof TooLarge) return "This PDF is too large to be shown here. Download it.";
  if (error instanceof NotLoaded) return `Could not load it: ${error.message}`;
  if (name === "PasswordException") return "This PDF opens with a password only. Download it.";
  return "This PDF can't be shown. Download it.";
}
