// @ts-check
/**
 * What a mail is shown on where the app is dark. One without colours of its own is on dark paper, like the app; one
 * that has some is on light paper, which its sender designed it for. Who chooses otherwise chooses for all mail; it is
 * kept in this browser.
 */
import { computed, signal } from "@preact/signals";
import { theme } from "../theme.js";

const KEY = "svc.dark-paper";
const query = matchMedia("(prefers-color-scheme: dark)");

const systemIsDark = signal(query.matches);
query.addEventListener("change", () => {
  systemIsDark.value = query.matches;
});
/** @type {import("@preact/signals").Signal<boolean | null>} */
const chosen = signal(stored());

/** Whether the app is dark just now: only then is there a choice. */
export const appIsDark = computed(() => (theme.value === "system" ? systemIsDark.value : theme.value === "dark"));

/** @param {boolean} coloured whether the mail has colours of its own */
export function isOnDarkPaper(coloured) {
  return appIsDark.value && (chosen.value ?? !coloured);
}

/** @param {boolean} on */
export function setDarkPaper(on) {
  chosen.value = on;
  try {
    localStorage.setItem(KEY, on ? "1" : "0");
  } catch {
    // A browser that keeps nothing for us still shows the choice until it is closed.
  }
}

function stored() {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === null ? null : kept === "1";
  } catch {
    return null;
  }
}
