// @ts-check
/** The service worker of this browser: begun once the page is there, and taken away at sign-out. */

const CACHES = "svc-app ";

/**
 * Calls back where the app is kept in this browser: at once if it was before, else once it is. It may wait: whoever
 * opens the app for the first time wants to see mail first. Called once.
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

/** Nothing of the app is kept in this browser any more. */
export async function removeWorker() {
  if (!("serviceWorker" in navigator)) return;
  for (const one of await navigator.serviceWorker.getRegistrations()) await one.unregister();
  for (const name of await caches.keys()) if (name.startsWith(CACHES)) await caches.delete(name);
}

async function register() {
  try {
    return await navigator.serviceWorker.register("/sw.js", { type: "module", updateViaCache: "none" });
  } catch {
    return null; // refused by the browser's settings, or the server is away: the app opens with the server only
  }
}
