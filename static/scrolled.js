// @ts-check
/**
 * How far each page was scrolled: after the browser's Back and Forward it is shown there again, once it is long enough.
 * A page that a link leads to begins at its top. Mail has its own memory.
 */
import { effect } from "@preact/signals";
import { address } from "./router.js";

const SCROLLERS = ".panel.scrolls, .panel.pages, .pages-main";
const MAX_KEPT = 100;
/** How long a page may take to become long enough. */
const WITHIN_MS = 5_000;

/** The positions by selector, by address; the newest last. @type {Map<string, Map<string, number>>} */
const kept = new Map();
let here = "";
let returns = false;
let round = 0;

/** Called once, before the router starts: it hears of Back first. */
export function startScrolled() {
  here = whole(address.value);
  addEventListener("popstate", () => {
    returns = whole(location) !== here; // the drawer's entry has the same address
  });
  document.addEventListener("scroll", ({ target }) => {
    if (target instanceof Element && target.matches(SCROLLERS)) keep(target);
  }, { capture: true, passive: true });
  for (const kind of ["wheel", "pointerdown", "keydown"]) {
    addEventListener(kind, () => { round += 1; }, { capture: true, passive: true }); // the person moves by themselves
  }
  effect(() => {
    const next = whole(address.value);
    if (next === here) return;
    document.querySelectorAll(SCROLLERS).forEach(keep); // the page that is left: its last scroll event may still come
    here = next;
    const wanted = returns ? kept.get(next) : undefined;
    returns = false;
    round += 1;
    if (wanted) show(new Map(wanted), round, performance.now() + WITHIN_MS);
  });
}

/** @param {Element} scroller */
function keep(scroller) {
  const mine = kept.get(here) ?? new Map();
  mine.set(scroller.className, scroller.scrollTop);
  kept.delete(here);
  kept.set(here, mine);
  for (const oldest of kept.keys()) {
    if (kept.size <= MAX_KEPT) break;
    kept.delete(oldest);
  }
}

/**
 * Sets the positions again with each frame until the person moves: at first the page that was left may still be shown,
 * and the one that takes its place begins at its top.
 * @param {Map<string, number>} wanted @param {number} mine @param {number} until
 */
function show(wanted, mine, until) {
  requestAnimationFrame(() => {
    if (mine !== round || performance.now() > until) return;
    for (const scroller of document.querySelectorAll(SCROLLERS)) {
      const top = wanted.get(scroller.className);
      if (top === undefined || scroller.scrollHeight - scroller.clientHeight < top) continue;
      if (Math.abs(scroller.scrollTop - top) > 1) scroller.scrollTop = top;
    }
    show(wanted, mine, until);
  });
}

/** @param {{ pathname: string, search: string }} url */
function whole({ pathname, search }) {
  return pathname + search;
}
