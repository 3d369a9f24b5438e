// @ts-check
/**
 * The background of a mail while the app is dark. A mail without its own colours is shown on dark paper, like the app;
 * one with colours is shown on light paper, for which its sender designed it. A person's other choice counts for all
 * mail; it is stored in this browser.
 */
import { computed, signal } from "@preact/signals";
import { theme } from "../theme.js";

const KEY = "svc.dark-paper";
const query = matchMedia("(prefers-color-scheme: dark)");
/** The browser shows every page, also a mail, in colours that the person chose for the whole system. */
const forced = matchMedia("(forced-colors: active)");

const systemIsDark = signal(query.matches);
query.addEventListener("change", () => {
  systemIsDark.value = query.matches;
});
const isForced = signal(forced.matches);
forced.addEventListener("change", () => {
  isForced.value = forced.matches;
});
/** @type {import("@preact/signals").Signal<boolean | null>} */
const chosen = signal(stored());

/** Whether the app is dark now: only then is there a choice. */
export const appIsDark = computed(() => !isForced.value
  && (theme.value === "system" ? systemIsDark.value : theme.value === "dark"));

/** @param {boolean} coloured whether the mail has its own colours */
export function isOnDarkPaper(coloured) {
  return appIsDark.value && (chosen.value ?? !coloured);
}

/** @param {boolean} on */
export function setDarkPaper(on) {
  chosen.value = on;
  try {
    localStorage.setItem(KEY, on ? "1" : "0");
  } catch {
    // If the browser stores nothing for us, the choice lasts until it is closed.
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
