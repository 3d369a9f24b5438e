// @ts-check
/** What the plugins that are switched on offer to everybody. Loaded when first shown, and again on live updates. */
import { signal } from "@preact/signals";
import { query } from "../rpc.js";

/** null: not loaded yet. */
export const offers = signal(/** @type {PluginsOffersOut | null} */ (null));

/** Functions that are called with the newest answer. @type {Set<(found: PluginsOffersOut) => void>} */
const hearers = new Set();
let asked = 0;

/** @param {(found: PluginsOffersOut) => void} hear */
export function onOffers(hear) {
  hearers.add(hear);
}

/** Loads the offers. Resolves when the answer is handled. Without an answer the earlier one stays. */
export async function loadOffers() {
  const mine = ++asked;
  try {
    const found = await query("plugins.offers");
    if (mine !== asked) return;
    offers.value = found;
    for (const hear of hearers) hear(found);
  } catch {
    // The banner says that the server is away; the palette and the pages work without offers.
  }
}

/** Loads the offers again, if they were loaded before. */
export function refreshOffers() {
  if (asked > 0) void loadOffers();
}

export function wantOffers() {
  if (asked === 0) void loadOffers();
}
