// @ts-check
/** News of plugins from /ws. Owns the count by which an open list knows that it is old. */
import { signal } from "@preact/signals";
import { refreshOffers } from "./offers.js";

/** How often something was told. */
export const changes = signal(0);

export function onPluginNews() {
  changes.value += 1;
  refreshOffers();
}
