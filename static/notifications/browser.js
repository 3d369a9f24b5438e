// @ts-check
/**
 * Notifications of this browser: whether they are allowed, and its subscription to pushes.
 *
 * A browser forgets a subscription now and then and makes another; each start tells the server of the one that is there
 * now. Only where the same person turned them on here: who signs in after somebody else does not take over theirs.
 */
import { signal } from "@preact/signals";
import { mutate } from "../rpc.js";
import { me } from "../session.js";

const KEPT_KEY = "svc.notifications";

/** "off": not asked for, or turned off here; "open": told while the app is open; "push": also while it is not. */
export const state = signal(/** @type {"unable" | "denied" | "off" | "open" | "push"} */ ("off"));

/** Find out how things stand, and tell the server of a new subscription. */
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

/** Ask the person, and subscribe. Call it from a press. Resolves to what stands in the way of pushes, if anything. */
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

/** The server's id of this browser, where it takes pushes. */
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
    // A browser that keeps nothing for us asks again each time.
  }
}
