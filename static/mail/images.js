// @ts-check
/**
 * Remote images of an open message: loaded when the person asks, one after the other, through the service.
 *
 * The frame has no network access and sends no cookie, so the app fetches each image from its own origin and passes it
 * to the frame as a `data:` address. Owns which messages' images were requested, the limits, and the cancelling:
 * leaving the message or pressing stop cancels the requests under way.
 */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { goToLogin } from "../rpc.js";
import { isTracker, parseInert } from "./paper.js";

const AT_A_TIME = 4;
/** The limit for all images of one message together, in the form that the frame's document holds them. */
const MAX_TOTAL_BYTES = 40 * 1024 * 1024;
const MAX_TRIES = 3;
/** Each change redraws the whole frame, so there are only two: the images that are here after this time, and all. */
const FIRST_LOOK_MS = 1_200;
const MAX_REMEMBERED = 500;
const WAIT_FIRST_MS = 1_000;
const MAX_WAIT_MS = 10_000;

/** @typedef {{ data: string, width: number, height: number }} LoadedImage */
/** @typedef {{ reason: string }} FailedImage */
/** @typedef {Map<number, LoadedImage | FailedImage>} Images by their index in the message's `remoteImages` */
/** @typedef {"blocked" | "loading" | "shown"} ImageState */

/** Messages whose images were requested since the page was opened: they show them again after folding and unfolding. */
const asked = /** @type {Set<string>} */ (new Set());

/**
 * @param {Message} message
 * @returns {{ state: ImageState, done: number, total: number, hasOnlyTrackers: boolean, failed: number, images: Images,
 * load: () => void, stop: () => void }}
 */
export function useRemoteImages(message) {
  const { indexes: wanted, hasOnlyTrackers } = useMemo(() => wantedIndexes(message), [message.html]);
  const [state, setState] = useState(/** @type {ImageState} */ ("blocked"));
  const [done, setDone] = useState(0);
  const [images, setImages] = useState(/** @type {Images} */ (new Map()));
  const under = useRef(/** @type {AbortController | null} */ (null));
  const leave = () => {
    under.current?.abort();
    under.current = null;
  };
  const stop = () => {
    asked.delete(message.id);
    leave();
  };
  const load = () => {
    if (!wanted.length || under.current) return;
    remember(message.id);
    const mine = (under.current = new AbortController());
    const found = /** @type {Images} */ (new Map([...images].filter(([, one]) => "data" in one)));
    const show = () => setImages(new Map(found));
    const early = setTimeout(show, FIRST_LOOK_MS);
    setState("loading");
    setDone(found.size);
    void loadAll(wanted.filter((index) => !found.has(index)), message.remoteImages, found, mine.signal,
      () => setDone(found.size)).finally(() => {
      clearTimeout(early);
      if (under.current && under.current !== mine) return; // requested again meanwhile
      under.current = null;
      setState(found.size ? "shown" : "blocked");
      show();
    });
  };
  useEffect(() => {
    if ((message.imagesAllowed && !hasOnlyTrackers) || asked.has(message.id)) load();
    return leave;
  }, [message.id]);
  const failed = [...images.values()].filter((one) => "reason" in one).length;
  return { state, done, total: wanted.length, hasOnlyTrackers, failed, images, load, stop };
}

/**
 * The images that are used in the message and show something. Tracking images are fetched only if there are no others
 * and the person asks for them.
 * @param {Message} message
 * @returns {{ indexes: number[], hasOnlyTrackers: boolean }}
 */
function wantedIndexes(message) {
  if (!message.remoteImages.length) return { indexes: [], hasOnlyTrackers: false };
  const seen = /** @type {Set<number>} */ (new Set());
  const counting = /** @type {Set<number>} */ (new Set());
  for (const image of parseInert(message.html).querySelectorAll("img[data-remote]")) {
    const index = Number(image.getAttribute("data-remote"));
    if (index < message.remoteImages.length) (isTracker(image) ? counting : seen).add(index);
  }
  const hasOnlyTrackers = !seen.size && counting.size > 0;
  return { indexes: [...(hasOnlyTrackers ? counting : seen)], hasOnlyTrackers };
}

/**
 * @param {number[]} indexes
 * @param {string[]} addresses
 * @param {Images} found filled while loading
 * @param {AbortSignal} signal
 * @param {() => void} tell called after each image
 */
async function loadAll(indexes, addresses, found, signal, tell) {
  const queue = [...indexes];
  let bytes = 0;
  const work = async () => {
    for (let index = queue.shift(); index !== undefined && !signal.aborted; index = queue.shift()) {
      if (bytes > MAX_TOTAL_BYTES) found.set(index, { reason: "The images of this message are too many to show at once."
        });
      else {
        const one = await loadOne(addresses[index] ?? "", signal);
        if (signal.aborted) return;
        if ("data" in one) bytes += one.data.length;
        found.set(index, one);
      }
      tell();
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
}

/**
 * @param {string} address
 * @param {AbortSignal} signal
 * @returns {Promise<LoadedImage | FailedImage>}
 */
async function loadOne(address, signal) {
  try {
    for (let attempt = 1; ; attempt += 1) {
      const answer = await fetch(`/mail/proxy-image?url=${encodeURIComponent(address)}`, { signal });
      if (answer.ok) return await readImage(await answer.blob());
      if (answer.status === 401) goToLogin();
      if (answer.status !== 429 || attempt === MAX_TRIES) return { reason: await reasonFrom(answer) };
      await pause(Math.min(MAX_WAIT_MS, Number(answer.headers.get("retry-after")) * 1_000 || WAIT_FIRST_MS), signal);
    }
  } catch {
    return { reason: "The image was not loaded: this server did not answer." };
  }
}

/** @param {Response} answer */
async function reasonFrom(answer) {
  try {
    return String((await answer.json()).detail);
  } catch {
    return `The image was not loaded (${answer.status}).`;
  }
}

/**
 * Reads an image and its size here, where scripts run: the frame's height is estimated before it draws anything.
 * @param {Blob} blob
 * @returns {Promise<LoadedImage | FailedImage>}
 */
async function readImage(blob) {
  if (!blob.type.startsWith("image/")) return { reason: "The image was not loaded: it is no picture." };
  try {
    const bitmap = await createImageBitmap(blob);
    const { width, height } = bitmap;
    bitmap.close();
    return { data: await dataAddress(blob), width, height };
  } catch {
    return { reason: "The image was not loaded: it is damaged." };
  }
}

/** @param {Blob} blob @returns {Promise<string>} */
function dataAddress(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(String(reader.result)));
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(blob);
  });
}

/** @param {number} ms @param {AbortSignal} signal */
function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

/** @param {string} messageId */
function remember(messageId) {
  asked.delete(messageId);
  asked.add(messageId);
  const [oldest] = asked;
  if (asked.size > MAX_REMEMBERED && oldest !== undefined) asked.delete(oldest);
}
