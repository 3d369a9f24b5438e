// @ts-check
/**
 * The router: the current address as a signal, and navigation without a reload.
 *
 * Each feature's row says which addresses belong to it, what they mean and what shows them; the first route that knows
 * an address is used. It knows no feature.
 */
import { computed, signal } from "@preact/signals";

/**
 * @typedef {object} Route
 * @property {(url: URL) => object | null} parse what the address means here; null: it is not one of these
 * @property {(params: any) => unknown} show
 * @property {boolean} [bare] whether the page is shown without the frame, the palette and the live updates
 */
/** @typedef {{ route: Route | null, params: object }} Place `route`: null if no route knows the address */

const path = signal(location.pathname + location.search);
/** @type {import("@preact/signals").Signal<readonly Route[]>} */
const routes = signal([]);

/** @type {import("@preact/signals").ReadonlySignal<Place>} */
export const place = computed(() => find(path.value));
/** The current address. */
export const address = computed(() => new URL(path.value, location.origin));

/** The target of the address "/". */
let home = () => "/p/mail";

/** Replaces this target; called before the router starts. @param {() => string} found */
export function useHome(found) {
  home = found;
}

/** Starts to follow the browser's Back and Forward. Called once. @param {readonly Route[]} known the first that fits */
export function startRouter(known) {
  routes.value = known;
  if (location.pathname === "/") navigate(home(), { replace: true });
  addEventListener("popstate", () => {
    path.value = location.pathname + location.search;
  });
  document.addEventListener("click", followLink);
}

/**
 * @param {string} to
 * @param {{ replace?: boolean }} [how]
 */
export function navigate(to, { replace = false } = {}) {
  if (to === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  path.value = location.pathname + location.search;
}

/**
 * For an act whose answer may come late: returns a function that navigates only if the person is still at this address,
 * and returns whether.
 */
export function fromHere() {
  const here = path.value;
  return (/** @type {[to: string, how?: { replace?: boolean }]} */ ...given) => {
    const stays = path.value === here;
    if (stays) navigate(...given);
    return stays;
  };
}

/** Decodes a part of an address; returns it unchanged if it is not valid. @param {string} part */
export function decodePart(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {string} href @returns {Place} */
function find(href) {
  const url = new URL(href, location.origin);
  for (const route of routes.value) {
    const params = route.parse(url);
    if (params) return { route, params };
  }
  return { route: null, params: {} };
}

/**
 * Navigates without a reload on a plain click on a link within the app; from the login page everything is loaded again.
 * @param {MouseEvent} event
 */
function followLink(event) {
  if (event.defaultPrevented || event.button !== 0 || place.value.route?.bare) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  const { route } = find(link.pathname);
  if (link.pathname === "/" || !route || route.bare) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}
