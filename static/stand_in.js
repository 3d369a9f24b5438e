// @ts-check
/**
 * The stand-in that answers while the server can't be reached: one feature may register it (offline/). The RPC client
 * calls it. The signals here say what is known about the server's absence, for the parts that show it.
 */
import { signal } from "@preact/signals";

/**
 * @typedef {object} StandIn
 * @property {(name: ProcedureName, input: any, output: any) => any} heard called with the server's
 *   answer to a query. Returns the answer with all queued acts applied
 * @property {(name: ProcedureName, input: any) => Promise<any>} answer the stored answer; undefined if there is none
 * @property {() => Promise<void>} strangerCame called when nobody is signed in any more: stored data is hidden until
 *   somebody is. Resolves once the acts that were under way are stored
 */

/** @type {StandIn | null} */
let one = null;

/** When the server last answered (ms since the epoch), as far as this browser knows; 0: not known. */
export const heardAt = signal(0);
/** The number of queued acts. */
export const waits = signal(0);

/** @param {StandIn | null} next */
export function useStandIn(next) {
  one = next;
}

export function standIn() {
  return one;
}
