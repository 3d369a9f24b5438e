// @ts-check
/**
 * Shows a notice of new mail while the app is open but not looked at. In a browser with pushes the service worker shows
 * it.
 */
import { navigate } from "../router.js";
import { state } from "./browser.js";
import { noticeOf, noticePath, withActions } from "./notice.js";

/** @param {LiveEvent} event */
export function onArrived(event) {
  if (event.kind !== "mail.arrived" || state.value !== "open" || isLookedAt()) return;
  const { title, options } = noticeOf(/** @type {Partial<import("./notice.js").Arrived>} */ (event.payload ?? {}));
  void showNotice(title, options);
}

function isLookedAt() {
  return document.visibilityState === "visible" && document.hasFocus();
}

/** @param {string} title @param {ReturnType<typeof noticeOf>["options"]} options */
async function showNotice(title, options) {
  const registration = await navigator.serviceWorker?.getRegistration();
  if (registration) {
    await registration.showNotification(title, withActions(options)); // the only way on phones
    return;
  }
  const notice = new Notification(title, options);
  notice.onclick = () => {
    window.focus();
    navigate(noticePath(options.data.threadId));
    notice.close();
  };
}

/** Navigates when the service worker asks for it, after a click on a notice. Called once. */
export function startOpening() {
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    if (data?.kind === "open" && typeof data.path === "string" && data.path.startsWith("/p/")) navigate(data.path);
  });
}
