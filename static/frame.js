// @ts-check
/**
 * How the frame stands in this browser: whether the navigation is folded to a rail, the drawer of a small window, and
 * how dense the lists are; and what a keyboard on the screen leaves of it. The first and the last are kept here; the
 * drawer is an entry of the history, so that the browser's Back closes it.
 */
import { computed, signal } from "@preact/signals";

/** @typedef {"comfortable" | "compact"} Density */

const FOLDED_KEY = "svc.nav";
const DENSITY_KEY = "svc.density";
/** From here on there is room for words in the navigation; the same line stands in ui/nav.css. */
const wide = matchMedia("(min-width: 80rem)");

const hasRoom = signal(wide.matches);
/** What the person chose where there is room for words. */
export const folded = signal(kept(FOLDED_KEY) === "folded");
/** Whether the navigation is a rail of icons. */
export const rail = computed(() => folded.value || !hasRoom.value);
export const drawerOpen = signal(false);
export const density = signal(/** @type {Density} */ (kept(DENSITY_KEY) === "compact" ? "compact" : "comfortable"));

/** Called once, before the first render. */
export function startFrame() {
  wide.addEventListener("change", () => {
    hasRoom.value = wide.matches;
  });
  addEventListener("popstate", () => {
    drawerOpen.value = false;
  });
  showDensity();
  followKeyboard();
}

/**
 * How much of the page a keyboard on the screen covers: the frame ends above it. Where the browser makes the page
 * smaller for it, that is nothing; a page that is zoomed in covers nothing either. What one writes in stays in sight.
 */
function followKeyboard() {
  const view = window.visualViewport;
  if (!view) return;
  let before = 0;
  const follow = () => {
    const covered = view.scale > 1 ? 0 : Math.max(0, Math.round(innerHeight - view.height - view.offsetTop));
    if (covered === before) return;
    before = covered;
    document.documentElement.style.setProperty("--keyboard", `${covered}px`);
    if (covered) document.activeElement?.scrollIntoView({ block: "nearest" });
  };
  view.addEventListener("resize", follow);
  view.addEventListener("scroll", follow);
}

/** The button and the key: fold where there is room for words, else show everything in the drawer. */
export function toggleNav() {
  if (!hasRoom.value) {
    openDrawer();
    return;
  }
  folded.value = !folded.value;
  keep(FOLDED_KEY, folded.value ? "folded" : "open");
}

export function openDrawer() {
  if (drawerOpen.value) return;
  history.pushState({ drawer: true }, "", location.href);
  drawerOpen.value = true;
}

/** Without going anywhere: its entry in the history goes, too. */
export function closeDrawer() {
  if (!drawerOpen.value) return;
  drawerOpen.value = false;
  if (history.state?.drawer) history.back();
}

/** @param {Density} wanted */
export function chooseDensity(wanted) {
  density.value = wanted;
  keep(DENSITY_KEY, wanted);
  showDensity();
}

function showDensity() {
  document.documentElement.dataset.density = density.value;
}

/** @param {string} key */
function kept(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string} value */
function keep(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // A browser that keeps nothing for us still shows the choice until it is closed.
  }
}
