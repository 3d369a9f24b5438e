// @ts-check
/**
 * Captures the microphone, and optionally the sound of a shared tab, as one stream of samples. Where that fails, the
 * error has a sentence for the person. Owns the tracks and the audio graph, and stops all of them.
 */

/** Samples per second: enough for speech, and the rate that recognisers want. */
export const RATE = 16_000;
const TAKER = new URL("../meetings/taker.worklet.js", import.meta.url).href;

/** @typedef {{ samples: ArrayBuffer, loudest: number }} Block 16-bit, little-endian; `loudest` from 0 to 1 */
/** @typedef {{ stop: () => void }} Capture */

/** Why recording is not possible; the message is a sentence for the person. */
export class CaptureProblem extends Error {}

/**
 * Asks the person for permission, and begins. Call it from a click: browsers let a tab be shared only then.
 * @param {{ withTab: boolean, onBlock: (block: Block) => void, onGone: (which: "microphone" | "tab") => void }} wanted
 * @returns {Promise<Capture>}
 */
export async function capture({ withTab, onBlock, onGone }) {
  mustBeAble(withTab);
  /** @type {MediaStream[]} */
  const streams = [];
  /** @type {AudioContext | null} */
  let context = null;
  const stop = () => {
    for (const stream of streams) for (const track of stream.getTracks()) track.stop();
    void context?.close().catch(() => undefined);
  };
  try {
    if (withTab) streams.push(await sharedTab());
    streams.push(await microphone());
    context = new AudioContext({ latencyHint: "balanced" });
    await context.audioWorklet.addModule(TAKER);
    const taker = new AudioWorkletNode(context, "taker", { numberOfOutputs: 0, processorOptions: { rate: RATE } });
    taker.port.onmessage = ({ data }) => onBlock(data);
    for (const stream of streams) context.createMediaStreamSource(stream).connect(taker); // inputs are mixed
    await context.resume();
    for (const [index, stream] of streams.entries()) {
      const which = withTab && index === 0 ? "tab" : "microphone";
      stream.getAudioTracks()[0]?.addEventListener("ended", () => onGone(which));
    }
    return { stop };
  } catch (error) {
    stop();
    throw error instanceof CaptureProblem ? error : new CaptureProblem(inWords(error));
  }
}

/** Whether this browser can share a tab. Phones can't. */
export function canShareTab() {
  return typeof navigator.mediaDevices?.getDisplayMedia === "function";
}

/** @param {boolean} withTab */
function mustBeAble(withTab) {
  if (!isSecureContext) {
    throw new CaptureProblem("Browsers let only secure pages hear the microphone. Open svc by https, or on its own " +
      "machine as http://127.0.0.1.");
  }
  if (!navigator.mediaDevices?.getUserMedia || !("AudioWorkletNode" in window) || (withTab && !canShareTab())) {
    throw new CaptureProblem("This browser can't record that.");
  }
}

async function microphone() {
  return navigator.mediaDevices.getUserMedia({
    audio: { channelCount: 1, echoCancellation: true, noiseSuppression: true, autoGainControl: true },
  });
}

async function sharedTab() {
  let stream;
  try {
    stream = await navigator.mediaDevices.getDisplayMedia({ video: true, audio: true });
  } catch (error) {
    if (error instanceof DOMException && error.name === "NotAllowedError") {
      throw new CaptureProblem("No tab was shared. Press Record again and choose one, or record the microphone alone.");
    }
    throw error;
  }
  for (const track of stream.getVideoTracks()) track.enabled = false; // unused; stop() would end the sharing
  if (!stream.getAudioTracks().length) {
    for (const track of stream.getTracks()) track.stop();
    throw new CaptureProblem("It was shared without its sound. Choose a tab, and tick that its sound is shared, too.");
  }
  return stream;
}

/** @param {unknown} error */
function inWords(error) {
  const name = error instanceof DOMException ? error.name : "";
  if (name === "NotAllowedError") {
    return "This browser was told not to let svc hear the microphone. Its settings of this site can allow it again.";
  }
  if (name === "NotFoundError") return "There is no microphone. Connect one, then press Record again.";
  if (name === "NotReadableError" || name === "AbortError") {
    return "The microphone can't be used now: another program may hold it.";
  }
  return `The recording could not begin: ${error instanceof Error ? error.message : String(error)}`;
}
