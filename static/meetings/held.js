// @ts-check
/**
 * A buffer of sound that the server has not confirmed as stored, in order, so that it can be sent again after a lost
 * connection. It is bounded: when it is full, the oldest sound is dropped and counted as lost. Pure.
 *
 * Positions count bytes from the beginning of the meeting, as the server counts them. Lost sound is not counted.
 */
export class Held {
  /** @param {number} most the largest number of bytes that are held */
  constructor(most) {
    this.most = most;
    /** @type {ArrayBuffer[]} */
    this.blocks = [];
    /** The position of the first held block. */
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
      this.lost += gone.byteLength; // the server never gets it, so the next block takes its position
    }
  }

  /** Drops the blocks before `position`, because the server has them. @param {number} position */
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
   * All sound that a server with `position` bytes does not have. The first block is cut if the server has part of it.
   * @param {number} position
   */
  from(position) {
    this.keep(position);
    const [first, ...rest] = this.blocks;
    if (!first) return [];
    const within = position - this.start;
    return within > 0 ? [first.slice(within), ...rest] : [first, ...rest];
  }

  /** Makes the held sound the beginning of a new meeting. */
  restart() {
    this.start = 0;
  }
}
