// @ts-check
/**
 * A stranger's PDF, opened: read in one worker and drawn in another, which the browser lets load nothing and which end
 * when it is closed. What a PDF would have run (scripts, forms of XFA, links) is never run: nothing here can.
 *
 * Owns the bounds: of bytes, pages, pixels and time. Loaded with its library when the first PDF is looked at, and never
 * before.
 */

export const MAX_BYTES = 33_554_432;
export const MAX_PAGES = 200;
/** Of a page as it is drawn, and of a picture in it. */
const MAX_DRAWN_PIXELS = 8_388_608;
const MAX_PICTURE_PIXELS = 41_943_040;
const BYTES_OF_PIXEL = 4;
/** A page that is longer or wider than this is no page. */
const MAX_RATIO = 20;
const MAX_TEXT_CHARS = 20_000;
/** Time that one step may take: to open it, to draw a page. It stands still while nobody sees the app. */
const STEP_WITHIN_MS = 12_000;

/** Its files are loaded by their address, and never joined with others; where this one is, it is one folder deep. */
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
  /** Rejects when it can't be shown any further. @type {Promise<never>} */
  failed = new Promise((_, reject) => {
    this.#fail = reject;
  });

  constructor() {
    this.failed.catch(() => undefined); // who waits for nothing just now need not hear of it
  }

  /**
   * @param {Uint8Array<ArrayBuffer>} data taken over
   * @returns {Promise<{ count: number, ratio: number }>} how many pages it has; the height of the first by its width
   */
  async open(data) {
    this.#task = await this.#read(data);
    this.#proxy = await this.#step(this.#task.promise);
    const first = await this.#step(this.#proxy.getPage(1));
    return { count: this.#proxy.numPages, ratio: ratioOf(first.getViewport({ scale: 1 })) };
  }

  /**
   * @param {number} number of the page, from 1
   * @param {HTMLCanvasElement} canvas takes the size that is drawn
   * @param {number} width in pixels of the screen
   * @param {AbortSignal} signal ends it
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

  /** Whatever its workers are at. */
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
      verbosity: 0, // what is wrong with a PDF is no news for the console
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
   * What takes too long ends it all: it may be in an endless loop, which nothing but the end of its worker ends.
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

/** Its words, for who listens: as many as are bearable. @param {import("pdfjs-dist").PDFPageProxy} page */
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
