// @ts-check
/**
 * Opens a PDF from an unknown sender. One worker parses it and another draws it. The browser lets these workers load
 * nothing, and they end when the PDF is closed. Active content of a PDF (scripts, XFA forms, links) never runs: nothing
 * here can run it.
 *
 * Owns the limits of bytes, pages, pixels and time. This module and its library are loaded only when the first PDF is
 * shown.
 */

export const MAX_BYTES = 33_554_432;
export const MAX_PAGES = 200;
/** The limits of a drawn page, and of a picture in it. */
const MAX_DRAWN_PIXELS = 8_388_608;
const MAX_PICTURE_PIXELS = 41_943_040;
const BYTES_OF_PIXEL = 4;
/** The largest ratio between the sides of a page; others count as invalid. */
const MAX_RATIO = 20;
const MAX_TEXT_CHARS = 20_000;
/** The time limit of one step, such as opening the PDF or drawing a page. It does not end while the app is hidden. */
const STEP_WITHIN_MS = 12_000;

/** The library's files are loaded by URL and never bundled. This module is always one folder deep, also when built. */
const LIBRARY = new URL("../vendor/pdf/", import.meta.url).href;

/** @typedef {import("pdfjs-dist").PDFDocumentProxy} Proxy */

export class OpenPdf {
  /** @type {Worker[]} */
  #workers = [];
  /** @type {import("pdfjs-dist").PDFDocumentLoadingTask | null} */
  #task = null;
  /** @type {Proxy | null} */
  #proxy = null;
  #isClosed = false;
  /** @type {(reason: Error) => void} */
  #fail = () => undefined;
  /** Rejects when the PDF can't be shown any more. @type {Promise<never>} */
  failed = new Promise((_, reject) => {
    this.#fail = reject;
  });

  constructor() {
    this.failed.catch(() => undefined); // no unhandled rejection if no code waits for it now
  }

  /**
   * @param {Uint8Array<ArrayBuffer>} data moved to the worker
   * @returns {Promise<{ count: number, ratio: number }>} the number of pages; height divided by width of the first
   */
  async open(data) {
    this.#task = await this.#read(data);
    this.#proxy = await this.#step(this.#task.promise);
    const first = await this.#step(this.#proxy.getPage(1));
    return { count: this.#proxy.numPages, ratio: ratioOf(first.getViewport({ scale: 1 })) };
  }

  /**
   * @param {number} number of the page, from 1
   * @param {HTMLCanvasElement} canvas is resized to the drawn size
   * @param {number} width in device pixels
   * @param {AbortSignal} signal stops the drawing
   * @returns {Promise<{ ratio: number, text: string }>}
   */
  async draw(number, canvas, width, signal) {
    const proxy = this.#proxy;
    if (!proxy) throw new Error("It is not open.");
    const page = await this.#step(proxy.getPage(number));
    const whole = page.getViewport({ scale: 1 });
    const ratio = ratioOf(whole);
    signal.throwIfAborted();
    const wanted = Math.min(width, Math.floor(Math.sqrt(MAX_DRAWN_PIXELS / ratio)));
    canvas.width = wanted;
    canvas.height = Math.max(1, Math.round(wanted * ratio));
    const drawing = page.render({ canvas, viewport: page.getViewport({ scale: wanted / whole.width }) });
    const cancel = () => drawing.cancel();
    signal.addEventListener("abort", cancel);
    try {
      await this.#step(drawing.promise);
      return { ratio, text: await this.#step(textOf(page)) };
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  /** Closes the PDF and ends its workers, even in the middle of work. */
  close() {
    void this.#task?.destroy().catch(() => undefined);
    for (const worker of this.#workers) worker.terminate();
    this.#workers = [];
    this.#proxy = null;
    this.#isClosed = true;
  }

  /** @param {Uint8Array<ArrayBuffer>} data */
  async #read(data) {
    /** @type {typeof import("pdfjs-dist")} */
    const { GlobalWorkerOptions, PDFWorker, getDocument } = await import(`${LIBRARY}pdf.mjs`);
    if (this.#isClosed) throw new Error("It is closed.");
    const [reading, drawing] = ["reading", "drawing"].map((name) => this.#worker(`${LIBRARY}${name}.worker.mjs`));
    GlobalWorkerOptions.rendererPorts = drawing ? [drawing] : [];
    return getDocument({
      data,
      worker: PDFWorker.create({ port: reading, verbosity: 0 }),
      verbosity: 0, // no messages about faulty PDFs in the console
      enableXfa: false,
      maxImageSize: MAX_PICTURE_PIXELS,
      canvasMaxAreaInBytes: MAX_DRAWN_PIXELS * BYTES_OF_PIXEL,
      useWasm: false, // the same decoders as JavaScript need no `wasm-unsafe-eval`
      useWorkerFetch: false, // the workers may fetch nothing: this page does it for them
      cMapUrl: `${LIBRARY}cmaps/`,
      standardFontDataUrl: `${LIBRARY}fonts/`,
      wasmUrl: `${LIBRARY}decoders/`,
    });
  }

  /** @param {string} address */
  #worker(address) {
    const worker = new Worker(address, { type: "module" });
    worker.addEventListener("error", (event) => {
      event.preventDefault();
      this.#fail(new Error(event.message));
    });
    this.#workers.push(worker);
    return worker;
  }

  /**
   * Waits for one step. If it takes too long, the whole PDF fails: the worker may be in an endless loop, and only
   * ending the worker stops that.
   * @template T
   * @param {Promise<T>} work
   * @returns {Promise<T>}
   */
  #step(work) {
    work.catch(() => undefined);
    let timer = 0;
    const look = () => {
      if (document.hidden) wait();
      else this.#fail(new Error("It takes too long."));
    };
    const wait = () => {
      timer = setTimeout(look, STEP_WITHIN_MS);
    };
    wait();
    return Promise.race([work, this.failed]).finally(() => clearTimeout(timer));
  }
}

/** @param {{ width: number, height: number }} viewport */
function ratioOf({ width, height }) {
  const ratio = height / width;
  if (!(ratio > 1 / MAX_RATIO && ratio < MAX_RATIO)) throw new Error("It has a page of no size.");
  return ratio;
}

/** The text of a page for screen readers, up to a limit. @param {import("pdfjs-dist").PDFPageProxy} page */
async function textOf(page) {
  const reader = page.streamTextContent().getReader();
  let text = "";
  while (text.length < MAX_TEXT_CHARS) {
    const { value, done } = await reader.read();
    if (done) return text.trim();
    for (const item of value.items) text += "str" in item ? `${item.str}${item.hasEOL ? "\n" : ""}` : "";
  }
  await reader.cancel(new Error("That is enough."));
  return text.slice(0, MAX_TEXT_CHARS);
}
