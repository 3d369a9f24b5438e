// @ts-check
/** Mail on dark paper, for who asks for it: kept in this browser. Without it, mail is on light paper in every theme. */
import { computed, signal } from "@preact/signals";
import { theme } from "../theme.js";

const KEY = "svc.dark-paper";
const query = matchMedia("(prefers-color-scheme: dark)");

const systemIsDark = signal(query.matches);
query.addEventListener("change", () => {
  systemIsDark.value = query.matches;
});
const wanted = signal(stored());

/** Whether the app is dark just now: only then is there a choice. */
export const appIsDark = computed(() => (theme.value === "system" ? systemIsDark.value : theme.value === "dark"));

export const darkPaper = computed(() => appIsDark.value && wanted.value);

/** @param {boolean} on */
export function setDarkPaper(on) {
  wanted.value = on;
  try {
    if (on) localStorage.setItem(KEY, "1");
    else localStorage.removeItem(KEY);
  } catch {
    // A browser that keeps nothing for us still shows the choice until it is closed.
  }
}

function stored() {
  try {
    return localStorage.getItem(KEY) === "1";
  } catch {
    return false;
  }
}
