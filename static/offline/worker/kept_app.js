// @ts-check
/**
 * Stores the app's own files in this browser so that it opens without the server.
 *
 * Theory. A build is one folder, `/static/<version>/…`, whose files never change, and one page, the shell, that names
 * that version. Both are stored together in a cache that is named after the build; all caches of other builds are
 * deleted when this one takes over. The page comes from the server whenever that answers, with its current policy; the
 * stored one is shown if it does not. No personal data is stored here: the app itself does that (offline/store.js). So
 * the cache may stay the same for every person who signs in.
 */

const CACHE_PREFIX = "svc-app ";
const SHELL = "/";
/** Addresses that the server answers with the shell. */
const PAGES = /^\/(?:$|login$|p(?:\/|$)|settings(?:\/|$)|plugins\/)/;
/** A server that takes longer for its page counts as away. */
const PAGE_WITHIN_MS = 8_000;

/**
 * The used part of the service worker API; the types of pages and of workers can't be combined.
 * @typedef {Event & { waitUntil: (work: Promise<unknown>) => void }} Extendable
 * @typedef {Extendable & { request: Request, respondWith: (answer: Promise<Response>) => void }} Fetch
 * @typedef {object} Worker
 * @property {(type: string, handler: (event: any) => void) => void} addEventListener
 * @property {() => Promise<void>} skipWaiting
 * @property {{ claim: () => Promise<void> }} clients
 */

/**
 * Called once, while the worker starts.
 * @param {{ base: string, names: string[] }} build the folder of its files, and their names
 */
export function keepApp({ base, names }) {
  const worker = /** @type {Worker} */ (/** @type {unknown} */ (self));
  const cacheName = CACHE_PREFIX + base;
  worker.addEventListener("install", (/** @type {Extendable} */ event) => {
    event.waitUntil(keepAll(cacheName, base, names).then(() => worker.skipWaiting()));
  });
  worker.addEventListener("activate", (/** @type {Extendable} */ event) => {
    event.waitUntil(dropOthers(cacheName).then(() => worker.clients.claim()));
  });
  worker.addEventListener("fetch", (/** @type {Fetch} */ event) => {
    const { request } = event;
    const { origin, pathname } = new URL(request.url);
    if (request.method !== "GET" || origin !== location.origin) return;
    if (request.mode === "navigate" && PAGES.test(pathname)) event.respondWith(page(cacheName, request));
    else if (pathname.startsWith(`${base}/`)) event.respondWith(file(cacheName, request));
  });
}

/**
 * Stores all files. If the server has another build meanwhile, this fails: this worker is not installed, and the next
 * one is.
 * @param {string} cacheName
 * @param {string} base
 * @param {string[]} names
 */
async function keepAll(cacheName, base, names) {
  const cache = await caches.open(cacheName);
  const shell = await fetch(SHELL, { cache: "no-cache", credentials: "omit" });
  if (!shell.ok || !(await shell.clone().text()).includes(`${base}/`)) throw new Error("The page is of another build.");
  await cache.addAll(names.map((name) => `${base}/${name}`));
  await cache.put(SHELL, shell);
}

/** @param {string} cacheName */
async function dropOthers(cacheName) {
  const names = await caches.keys();
  const others = names.filter((name) => name.startsWith(CACHE_PREFIX) && name !== cacheName);
  await Promise.all(others.map((name) => caches.delete(name)));
}

/** @param {string} cacheName @param {Request} request */
async function page(cacheName, request) {
  try {
    return await fetch(request, { signal: AbortSignal.timeout(PAGE_WITHIN_MS) });
  } catch (error) {
    const kept = await caches.match(SHELL, { cacheName });
    if (kept) return kept;
    throw error;
  }
}

/** @param {string} cacheName @param {Request} request */
async function file(cacheName, request) {
  return (await caches.match(request.url, { cacheName, ignoreVary: true })) ?? fetch(request);
}
