// @ts-check
/**
 * What answers in the server's place while it can't be reached: one feature may say that it does (offline/). The RPC
 * client asks it; whoever shows that the server is away tells what is known of that here.
 */
import { signal } from "@preact/signals";

/**
 * @typedef {object} StandIn
 * @property {(name: ProcedureName, input: any, output: any) => any} heard the server has answered a query. Returns the
 * answer as it will be once everything that waits is told
 * @property {(name: ProcedureName, input: any) => Promise<any>} answer what is kept; undefined where nothing is
 * @property {() => void} strangerCame nobody is signed in any more: what is kept is shown to nobody until they are
 */

/** @type {StandIn | null} */
let one = null;

/** When the server answered last (ms since the epoch), as far as this browser knows; 0: not known. */
export const heardAt = signal(0);
/** How many acts wait to be told. */
export const waits = signal(0);

/** @param {StandIn | null} next */
export function useStandIn(next) {
  one = next;
}

export function standIn() {
  return one;
}
