// @ts-check
/**
 * Sound that the server has not said to be safe yet, in order, so that it can be sent anew after a lost link. Bounded:
 * what is too much goes from its beginning, and is counted as lost. Pure.
 *
 * Positions count bytes from the beginning of the meeting, as the server counts them: what was lost does not count.
 */
export class Held {
  /** @param {number} most bytes that are held */
  constructor(most) {
    this.most = most;
    /** @type {ArrayBuffer[]} */
    this.blocks = [];
    /** Where the first held block begins. */
    this.start = 0;
    this.size = 0;
    this.lost = 0;
  }

  /** @param {ArrayBuffer} block */
  add(block) {
    this.blocks.push(block);
    this.size += block.byteLength;
    while (this.size > this.most) {
      const gone = this.blocks.shift();
      if (!gone) return;
      this.size -= gone.byteLength;
      this.lost += gone.byteLength; // nobody else has it: what follows takes its place
    }
  }

  /** The server has all before `position`. @param {number} position */
  keep(position) {
    let first = this.blocks[0];
    while (first && this.start + first.byteLength <= position) {
      this.blocks.shift();
      this.start += first.byteLength;
      this.size -= first.byteLength;
      first = this.blocks[0];
    }
  }

  /**
   * All that the server lacks that has `position` bytes; the first block is cut where it has a part of it.
   * @param {number} position
   */
  from(position) {
    this.keep(position);
    const [first, ...rest] = this.blocks;
    if (!first) return [];
    const within = position - this.start;
    return within > 0 ? [first.slice(within), ...rest] : [first, ...rest];
  }

  /** What is held belongs to a new meeting now. */
  restart() {
    this.start = 0;
  }
}
