// @ts-check
/** The theme: light, dark, or the system's. The choice is stored in this browser and set on the root element. */
import { signal } from "@preact/signals";

/** @typedef {"system" | "light" | "dark"} Theme */

const KEY = "svc.theme";
/** @type {Theme[]} */
const ORDER = ["system", "light", "dark"];

export const theme = signal(stored());

/** Called once, before the first render. */
export function startTheme() {
  apply();
}

export function nextTheme() {
  chooseTheme(ORDER[(ORDER.indexOf(theme.value) + 1) % ORDER.length] ?? "system");
}

/** @param {Theme} wanted */
export function chooseTheme(wanted) {
  theme.value = wanted;
  try {
    localStorage.setItem(KEY, theme.value);
  } catch {
    // If the browser stores nothing for us, the choice lasts until it is closed.
  }
  apply();
}

function apply() {
  if (theme.value === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset.theme = theme.value;
  colourBar();
}

/** Sets the colour of the phone's bar above the app to that of the page: by the choice, or the system's. */
function colourBar() {
  for (const bar of /** @type {NodeListOf<HTMLMetaElement>} */ (document.querySelectorAll("meta[name=theme-color]"))) {
    const own = bar.dataset.theme ?? "";
    bar.media = theme.value === "system" ? `(prefers-color-scheme: ${own})` : own === theme.value ? "all" : "not all";
  }
}

/** @returns {Theme} */
function stored() {
  try {
    return ORDER.find((one) => one === localStorage.getItem(KEY)) ?? "system";
  } catch {
    return "system";
  }
}
