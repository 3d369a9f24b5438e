// @ts-check
/**
 * Runs in the audio thread: resamples from the machine's rate to 16-bit samples of one channel at the wanted rate, in
 * blocks of a tenth of a second, each with its loudest value. Each sample is the mean of the input samples in its time,
 * which also filters frequencies that are too high for the lower rate.
 */

/** @typedef {{ port: MessagePort }} Processor */
/** @type {{ AudioWorkletProcessor: new () => Processor, sampleRate: number,
 *   registerProcessor: (name: string, made: unknown) => void }} */
const here = /** @type {any} */ (globalThis);

class Taker extends here.AudioWorkletProcessor {
  /** @param {{ processorOptions: { rate: number } }} options */
  constructor({ processorOptions: { rate } }) {
    super();
    this.step = here.sampleRate / rate;
    this.size = rate / 10;
    this.block = new Int16Array(this.size);
    this.filled = 0;
    this.loudest = 0;
    this.sum = 0;
    this.weight = 0;
  }

  /** @param {Float32Array[][]} inputs */
  process(inputs) {
    const channels = inputs[0] ?? [];
    const length = channels[0]?.length ?? 0;
    for (let at = 0; at < length; at += 1) {
      let sample = 0;
      for (const channel of channels) sample += channel[at] ?? 0;
      this.take(sample / channels.length);
    }
    return true;
  }

  /**
   * Adds an input sample to the output sample in whose time it falls. The part behind its end counts for the next one.
   * @param {number} sample
   */
  take(sample) {
    const room = this.step - this.weight;
    if (room > 1) {
      this.sum += sample;
      this.weight += 1;
      return;
    }
    this.give((this.sum + sample * room) / this.step);
    let left = 1 - room;
    while (left >= this.step) { // the machine's rate is lower than the wanted rate
      this.give(sample);
      left -= this.step;
    }
    this.sum = sample * left;
    this.weight = left;
  }

  /** @param {number} value */
  give(value) {
    const whole = Math.round(Math.max(-1, Math.min(1, value)) * 32767);
    this.block[this.filled] = whole;
    this.loudest = Math.max(this.loudest, Math.abs(whole));
    this.filled += 1;
    if (this.filled < this.size) return;
    this.port.postMessage({ samples: this.block.buffer, loudest: this.loudest / 32767 }, [this.block.buffer]);
    this.block = new Int16Array(this.size);
    this.filled = 0;
    this.loudest = 0;
  }
}

here.registerProcessor("taker", Taker);
