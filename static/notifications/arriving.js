// @ts-check
/** A notice of new mail while the app is open and nobody looks at it. Where pushes come, the worker shows it. */
import { navigate } from "../router.js";
import { state } from "./browser.js";
import { noticeOf, noticePath } from "./notice.js";

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
    await registration.showNotification(title, options); // phones know no other way
    return;
  }
  const notice = new Notification(title, options);
  notice.onclick = () => {
    window.focus();
    navigate(noticePath(options.data.threadId));
    notice.close();
  };
}

/** The service worker asks for a place, when a notice was pressed. Called once. */
export function startOpening() {
  navigator.serviceWorker?.addEventListener("message", ({ data }) => {
    if (data?.kind === "open" && typeof data.path === "string" && data.path.startsWith("/p/")) navigate(data.path);
  });
}
