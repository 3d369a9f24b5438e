// @ts-check
/**
 * The app's own files, kept in this browser so that it opens without the server.
 *
 * Theory. A build is one folder, `/static/<version>/…`, whose files never change, and one page, the shell, that names
 * that version. Both are kept together in a cache that is named after the build, and all other builds' caches go when
 * this one takes over. The page comes from the server whenever that answers, with the policy that it has today; the
 * kept one is shown where it does not. Nothing that belongs to a person is kept here: that is what the app does itself
 * (offline/store.js), and why the cache may stay the same for whoever signs in.
 */

const CACHE_PREFIX = "svc-app ";
const SHELL = "/";
/** Addresses that begin with the shell, as the server has them. */
const PAGES = /^\/(?:$|login$|p(?:\/|$)|settings(?:\/|$)|plugins\/)/;
/** A server that takes longer for its page is treated as away. */
const PAGE_WITHIN_MS = 8_000;

/**
 * As much of a service worker as is used here; the types of pages and of workers do not go together.
 * @typedef {Event & { waitUntil: (work: Promise<unknown>) => void }} Extendable
 * @typedef {Extendable & { request: Request, respondWith: (answer: Promise<Response>) => void }} Fetch
 * @typedef {object} Worker
 * @property {(type: string, handler: (event: any) => void) => void} addEventListener
 * @property {() => Promise<void>} skipWaiting
 * @property {{ claim: () => Promise<void> }} clients
 */

/**
 * Called once, while the worker starts.
 * @param {{ base: string, names: string[] }} build where its files are, and what they are called there
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
 * The server may have begun another build meanwhile: then this worker is not installed, and the next one is.
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
