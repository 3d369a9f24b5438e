// @ts-check
/**
 * Notifications of this browser: whether they are allowed, and its subscription to pushes.
 *
 * A browser sometimes replaces a subscription by another; each start sends the current one to the server. This is done
 * only if the same person turned notifications on here: another person who signs in does not take them over.
 */
import { signal } from "@preact/signals";
import { mutate } from "../rpc.js";
import { me } from "../session.js";

const KEPT_KEY = "svc.notifications";

/** "off": not turned on, or turned off here; "open": notices while the app is open; "push": also while it is not. */
export const state = signal(/** @type {"unable" | "denied" | "off" | "open" | "push"} */ ("off"));

/** Determines the state, and sends a new subscription to the server. */
export async function refreshState() {
  if (!("Notification" in window)) state.value = "unable";
  else if (Notification.permission === "denied") state.value = "denied";
  else if (Notification.permission !== "granted" || kept() !== person()) state.value = "off";
  else {
    const subscription = await current();
    if (subscription) await tell(subscription).catch(() => undefined);
    state.value = subscription ? "push" : "open";
  }
}

/**
 * Asks the person for permission, and subscribes. Must be called from a click. Resolves to the obstacle to pushes, if
 * there is one.
 */
export async function turnOn() {
  if (await Notification.requestPermission() !== "granted") {
    await refreshState();
    return "";
  }
  keep(person());
  let problem = "";
  try {
    const registration = await navigator.serviceWorker?.getRegistration();
    if (!registration?.pushManager) throw new Error("this browser takes no pushes here");
    const { publicKey } = await mutate("notifications.key");
    await tell(await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey }));
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error);
  }
  await refreshState();
  return problem;
}

export async function turnOff() {
  keep("");
  const subscription = await current();
  if (subscription) {
    const browserId = await tell(subscription).catch(() => "");
    await subscription.unsubscribe();
    if (browserId) await mutate("notifications.unsubscribe", { browserId });
  }
  await refreshState();
}

/** The server's id of this browser, if it receives pushes. */
export async function browserId() {
  const subscription = await current();
  return subscription ? tell(subscription) : "";
}

async function current() {
  const registration = await navigator.serviceWorker?.getRegistration();
  return (await registration?.pushManager?.getSubscription()) ?? null;
}

/** @param {PushSubscription} subscription */
async function tell(subscription) {
  const { endpoint = "", keys = {} } = subscription.toJSON();
  const given = { endpoint, p256dh: keys["p256dh"] ?? "", auth: keys["auth"] ?? "" };
  return (await mutate("notifications.subscribe", given)).browserId;
}

function person() {
  return me.value?.user?.id ?? "everybody";
}

function kept() {
  try {
    return localStorage.getItem(KEPT_KEY) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} who */
function keep(who) {
  try {
    if (who) localStorage.setItem(KEPT_KEY, who);
    else localStorage.removeItem(KEPT_KEY);
  } catch {
    // If the browser stores nothing for us, this is repeated each time.
  }
}
