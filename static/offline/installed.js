// @ts-check
/** The service worker of this browser: installed after the page has loaded, and removed at sign-out. */

const CACHES = "svc-app ";

/**
 * Calls `then` when the app's files are stored in this browser: at once if they already were, else after the
 * installation, which may be delayed: a person who opens the app for the first time wants to see mail first. Called
 * once.
 * @param {() => void} then
 */
export function startWorker(then) {
  if (!("serviceWorker" in navigator)) return; // plain http on another machine, or a private window
  const known = navigator.serviceWorker.controller !== null;
  if (known) then();
  const begin = async () => {
    if ((await register()) && !known) then();
  };
  if (document.readyState === "complete") void begin();
  else addEventListener("load", () => void begin(), { once: true });
}

/** Removes the app's files from this browser. */
export async function removeWorker() {
  if (!("serviceWorker" in navigator)) return;
  for (const one of await navigator.serviceWorker.getRegistrations()) await one.unregister();
  for (const name of await caches.keys()) if (name.startsWith(CACHES)) await caches.delete(name);
}

async function register() {
  try {
    return await navigator.serviceWorker.register("/sw.js", { type: "module", updateViaCache: "none" });
  } catch {
    return null; // refused by the browser's settings, or the server is away: the app then needs the server to open
  }
}
