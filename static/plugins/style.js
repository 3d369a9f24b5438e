// @ts-check
/**
 * The theme of a plugin, chosen for this browser: sets its tokens as custom properties of the root element. The choice
 * and the tokens are cached in this browser, so that the next page begins in its colours. The server's tokens replace
 * cached ones.
 */
import { signal } from "@preact/signals";
import { loadOffers, onOffers } from "./offers.js";

const KEY = "svc.pluginTheme";
const NAME = /^[a-z]+(?:-[a-z]+)*$/;
const COLOUR = "#[0-9a-fA-F]{3,8}";
const VALUE = new RegExp(`^(?:${COLOUR}|light-dark\\(${COLOUR}, ${COLOUR}\\)|0|[0-9.]{1,7}(?:px|rem))$`);

/** The person's own colours, and more contrast: no theme is shown over them. */
const OWN_COLOURS = matchMedia("(forced-colors: active), (prefers-contrast: more)");

/** @typedef {{ id: string, tokens: Record<string, string> }} Style */

/** The chosen theme; null: the app's own colours. */
export const style = signal(/** @type {Style | null} */ (null));
/** @type {string[]} */
let applied = [];

/** @param {{ plugin: string, name: string }} theme */
export function idOf({ plugin, name }) {
  return `${plugin}/${name}`;
}

/** Called once, before anything is drawn. */
export function startStyle() {
  onOffers(follow);
  use(stored());
  OWN_COLOURS.addEventListener("change", () => use(style.value));
  if (style.value) void loadOffers(); // the theme may have changed, or its plugin may be gone
}

/** @param {Style | null} wanted */
export function chooseStyle(wanted) {
  use(wanted);
  try {
    if (wanted) localStorage.setItem(KEY, JSON.stringify(wanted));
    else localStorage.removeItem(KEY);
  } catch {
    // A browser that stores nothing still shows the choice until it is closed.
  }
}

/** @param {PluginsOffersOut} found */
function follow(found) {
  const chosen = style.value;
  if (!chosen) return;
  const theirs = found.themes.find((one) => idOf(one) === chosen.id);
  chooseStyle(theirs ? { id: chosen.id, tokens: theirs.tokens } : null);
}

/** @param {Style | null} wanted */
function use(wanted) {
  const root = document.documentElement.style;
  for (const name of applied) root.removeProperty(name);
  const shown = OWN_COLOURS.matches ? {} : wanted?.tokens ?? {};
  const tokens = Object.entries(shown).filter(([name, value]) => NAME.test(name) && VALUE.test(value));
  applied = tokens.map(([name]) => `--${name}`);
  for (const [name, value] of tokens) root.setProperty(`--${name}`, value);
  style.value = wanted;
}

/** @returns {Style | null} */
function stored() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "null");
    const isStyle = typeof found?.id === "string" && typeof found.tokens === "object" && found.tokens !== null
      && Object.values(found.tokens).every((value) => typeof value === "string");
    return isStyle ? { id: found.id, tokens: found.tokens } : null;
  } catch {
    return null;
  }
}
