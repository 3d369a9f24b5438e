// @ts-check
/**
 * Web Push in the service worker: every push shows a notice, as browsers demand, and the buttons of a notice work
 * without the app. Requests carry the session's cookie, so a person who has signed out can archive nothing.
 */
import { noticeOf, noticePath, withActions } from "./notice.js";

/**
 * The used part of the service worker API; the types of pages and of workers can't be combined.
 * @typedef {Event & { waitUntil: (work: Promise<unknown>) => void }} Extendable
 * @typedef {Extendable & { data: { json: () => any } | null }} Push
 * @typedef {Extendable & { action: string, notification: Notification }} Click
 * @typedef {{ url: string, focus: () => Promise<unknown>, postMessage: (message: unknown) => void }} Page
 * @typedef {object} Worker
 * @property {(type: string, handler: (event: any) => void) => void} addEventListener
 * @property {ServiceWorkerRegistration} registration
 * @property {{ matchAll: (wanted: object) => Promise<Page[]>, openWindow: (url: string) => Promise<unknown> }} clients
 */

/** Called once, while the worker starts. */
export function takePushes() {
  const worker = /** @type {Worker} */ (/** @type {unknown} */ (self));
  worker.addEventListener("push", (/** @type {Push} */ event) => event.waitUntil(show(worker, event)));
  worker.addEventListener("notificationclick", (/** @type {Click} */ event) => {
    event.notification.close();
    event.waitUntil(act(worker, event.action, String(event.notification.data?.threadId ?? "")));
  });
}

/** @param {Worker} worker @param {Push} event */
async function show(worker, event) {
  const { title, options } = noticeOf(told(event));
  await worker.registration.showNotification(title, withActions(options));
}

/** @param {Push} event */
function told(event) {
  try {
    return event.data?.json() ?? {};
  } catch {
    return {}; // not our format: the notice only says that there is mail
  }
}

/** @param {Worker} worker @param {string} action @param {string} threadId */
async function act(worker, action, threadId) {
  if (action === "archive" && threadId && await archived(threadId)) return;
  await open(worker, noticePath(threadId, action === "reply"));
}

/**
 * Archives the thread. Resolves to whether that worked; if not, the app opens and shows the error.
 * @param {string} threadId
 */
async function archived(threadId) {
  try {
    const answer = await fetch("/trpc/mail.archive", { method: "POST", credentials: "same-origin",
      headers: { "content-type": "application/json" }, body: JSON.stringify({ threadIds: [threadId] }) });
    return answer.ok;
  } catch {
    return false;
  }
}

/**
 * Opens the address in a page of the app, or in a new one if none is open.
 * @param {Worker} worker
 * @param {string} path
 */
async function open(worker, path) {
  const [page] = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!page) {
    await worker.clients.openWindow(path);
    return;
  }
  page.postMessage({ kind: "open", path });
  await page.focus().catch(() => undefined); // some browsers can't focus a window
}
