// @ts-check
/** Live updates of plugins from /ws. Owns the count by which an open list knows that it is out of date. */
import { signal } from "@preact/signals";
import { refreshOffers } from "./offers.js";

/** The number of live updates so far. */
export const changes = signal(0);

export function onPluginNews() {
  changes.value += 1;
  refreshOffers();
}
