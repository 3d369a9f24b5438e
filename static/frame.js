// @ts-check
/**
 * The state of the app's frame in this browser: whether the navigation is folded to a rail, the drawer of a small
 * window, the density of the lists, and the space that an on-screen keyboard leaves. The folding and the density are
 * stored here; the drawer is an entry of the browser history, so that the browser's Back closes it.
 */
import { computed, signal } from "@preact/signals";

/** @typedef {"comfortable" | "compact"} Density */

const FOLDED_KEY = "svc.nav";
const DENSITY_KEY = "svc.density";
/** From this width on the navigation shows labels; ui/nav.css has the same limit. */
const wide = matchMedia("(min-width: 80rem)");

const hasRoom = signal(wide.matches);
/** The person's choice for windows with room for labels. */
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
 * Tracks how much of the page an on-screen keyboard covers: the frame ends above it. If the browser shrinks the page
 * for the keyboard, that is zero; a zoomed page counts as uncovered, too. The focused field stays visible.
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

/** The action of the button and the key: folds the navigation if there is room for labels, else opens the drawer. */
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

/** Closes the drawer without navigating: its entry in the history is removed, too. */
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
    // If the browser stores nothing for us, the choice lasts until it is closed.
  }
}
