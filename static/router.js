// @ts-check
/**
 * Addresses: the current one as a signal, and moving between them without a reload.
 *
 *     /p/mail                        the unified inbox
 *     /p/mail/t/<thread>             a thread opened from it
 *     /p/mail/a/<account>            one account
 *     /p/mail/a/<account>/t/<thread>
 *     /p/tasks                       mail that is scheduled or on its way
 *     /p/                            the list of pages; /p/<path> any other page
 *     /settings                      the first section; /settings/<section> any other
 */
import { computed, signal } from "@preact/signals";

/** @typedef {{ page: "mail", accountId: string | null, threadId: string | null } | { page: "tasks" } | { page: "pages", path: string } | { page: "settings", section: string } | { page: "login" } | { page: "missing" }} Place */

const MAIL = /^\/p\/mail(?:\/a\/([^/]+))?(?:\/t\/([^/]+))?\/?$/;
const PAGES = /^\/p(?:\/(.*))?$/;
const SETTINGS = /^\/settings(?:\/([^/]+))?\/?$/;

const path = signal(location.pathname);

/** @type {import("@preact/signals").ReadonlySignal<Place>} */
export const place = computed(() => parse(path.value));

/** Begin to follow the browser's Back and Forward. Called once. */
export function startRouter() {
  if (path.value === "/") navigate("/p/mail", { replace: true });
  addEventListener("popstate", () => {
    path.value = location.pathname;
  });
  document.addEventListener("click", followLink);
}

/**
 * @param {string} to
 * @param {{ replace?: boolean }} [how]
 */
export function navigate(to, { replace = false } = {}) {
  if (to === location.pathname) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  path.value = location.pathname;
}

/**
 * @param {string | null} accountId null: unified
 * @param {string | null} [threadId]
 */
export function mailPath(accountId, threadId = null) {
  const account = accountId === null ? "" : `/a/${encodeURIComponent(accountId)}`;
  const thread = threadId === null ? "" : `/t/${encodeURIComponent(threadId)}`;
  return `/p/mail${account}${thread}`;
}

/**
 * @param {string} pathname
 * @returns {Place}
 */
function parse(pathname) {
  if (pathname === "/login") return { page: "login" };
  const match = MAIL.exec(pathname);
  if (match || pathname === "/") {
    return { page: "mail", accountId: decode(match?.[1]), threadId: decode(match?.[2]) };
  }
  if (/^\/p\/tasks\/?$/.test(pathname)) return { page: "tasks" };
  const pages = PAGES.exec(pathname);
  if (pages) return { page: "pages", path: (pages[1] ?? "").replace(/\/$/, "").split("/").map((part) => decode(part) ?? "").join("/") };
  const settings = SETTINGS.exec(pathname);
  if (settings) return { page: "settings", section: decode(settings[1]) ?? "" };
  return { page: "missing" };
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
  navigate(link.pathname);
}
