// @ts-check
/** What the plugins that are on bring to everybody, asked for when it is first shown and again on news. */
import { signal } from "@preact/signals";
import { query } from "../rpc.js";

/** null: not asked for yet. */
export const offers = signal(/** @type {PluginsOffersOut | null} */ (null));

/** Called with the newest answer, besides the signal. @type {Set<(found: PluginsOffersOut) => void>} */
const hearers = new Set();
let asked = 0;

/** @param {(found: PluginsOffersOut) => void} hear */
export function onOffers(hear) {
  hearers.add(hear);
}

/** Asks, and is done with the answer. Where there is none, what was known stays. */
export async function loadOffers() {
  const mine = ++asked;
  try {
    const found = await query("plugins.offers");
    if (mine !== asked) return;
    offers.value = found;
    for (const hear of hearers) hear(found);
  } catch {
    // The banner tells of a server that is away; palette and pages do without.
  }
}

/** Once somebody has asked, it stays true. */
export function refreshOffers() {
  if (asked > 0) void loadOffers();
}

export function wantOffers() {
  if (asked === 0) void loadOffers();
}
