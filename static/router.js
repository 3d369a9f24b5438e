// @ts-check
/**
 * Addresses: the current one as a signal, and moving between them without a reload.
 *
 *     /p/mail                        the unified inbox
 *     /p/mail/t/<thread>             a thread opened from it
 *     /p/mail/a/<account>            one account
 *     /p/mail/a/<account>/t/<thread>
 *     /p/mail/l/<label>              the threads with a label, by its name; below an account as well
 *     /p/mail/snoozed                what comes back later
 *     /p/mail/search?q=<query>       what was searched for; a thread opened from it keeps the query
 *     /p/tasks                       mail that is scheduled or on its way
 *     /p/                            the list of pages; /p/<path> any other page
 *     /settings                      the first section; /settings/<section> any other
 */
import { computed, signal } from "@preact/signals";

/** What the mail page lists. @typedef {{ kind: "sections" } | { kind: "label", name: string } | { kind: "snoozed" } | { kind: "search", query: string }} View */
/** @typedef {{ page: "mail", accountId: string | null, threadId: string | null, view: View } | { page: "tasks" } | { page: "pages", path: string } | { page: "settings", section: string } | { page: "login" } | { page: "missing" }} Place */

const MAIL = /^\/p\/mail(?:\/a\/([^/]+))?(?:\/(?:l\/([^/]+)|(search|snoozed)))?(?:\/t\/([^/]+))?\/?$/;
const PAGES = /^\/p(?:\/(.*))?$/;
const SETTINGS = /^\/settings(?:\/([^/]+))?\/?$/;

/** @type {View} The inbox, and what skipped it. */
export const SECTIONS_VIEW = { kind: "sections" };

const path = signal(location.pathname + location.search);

/** @type {import("@preact/signals").ReadonlySignal<Place>} */
export const place = computed(() => parse(path.value));

/** Begin to follow the browser's Back and Forward. Called once. */
export function startRouter() {
  if (location.pathname === "/") navigate("/p/mail", { replace: true });
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
 * @param {string | null} accountId null: unified
 * @param {string | null} [threadId]
 * @param {View} [view]
 */
export function mailPath(accountId, threadId = null, view = SECTIONS_VIEW) {
  const account = accountId === null ? "" : `/a/${encodeURIComponent(accountId)}`;
  const thread = threadId === null ? "" : `/t/${encodeURIComponent(threadId)}`;
  const list = view.kind === "sections" ? "" : view.kind === "label" ? `/l/${encodeURIComponent(view.name)}` : `/${view.kind}`;
  const query = view.kind === "search" ? `?q=${encodeURIComponent(view.query)}` : "";
  return `/p/mail${account}${list}${thread}${query}`;
}

/**
 * @param {string} address path and query
 * @returns {Place}
 */
function parse(address) {
  const { pathname, searchParams } = new URL(address, location.origin);
  if (pathname === "/login") return { page: "login" };
  const match = MAIL.exec(pathname);
  if (match || pathname === "/") {
    const view = viewOf(match?.[2], match?.[3], searchParams.get("q") ?? "");
    return { page: "mail", accountId: decode(match?.[1]), threadId: decode(match?.[4]), view };
  }
  if (/^\/p\/tasks\/?$/.test(pathname)) return { page: "tasks" };
  const pages = PAGES.exec(pathname);
  if (pages) return { page: "pages", path: (pages[1] ?? "").replace(/\/$/, "").split("/").map((part) => decode(part) ?? "").join("/") };
  const settings = SETTINGS.exec(pathname);
  if (settings) return { page: "settings", section: decode(settings[1]) ?? "" };
  return { page: "missing" };
}

/**
 * @param {string | undefined} label
 * @param {string | undefined} word
 * @param {string} query
 * @returns {View}
 */
function viewOf(label, word, query) {
  if (label !== undefined) return { kind: "label", name: decode(label) ?? "" };
  if (word === "snoozed") return { kind: "snoozed" };
  return word === "search" ? { kind: "search", query } : SECTIONS_VIEW;
}

/** @param {string | undefined} part */
function decode(part) {
  if (part === undefined) return null;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A plain click on a link within the app moves without a reload; from the login page everything starts anew. @param {MouseEvent} event */
function followLink(event) {
  if (event.defaultPrevented || event.button !== 0 || place.value.page === "login") return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (link.pathname === "/" || !["mail", "tasks", "pages", "settings"].includes(parse(link.pathname).page)) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
}
