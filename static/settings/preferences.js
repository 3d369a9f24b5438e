// @ts-check
/**
 * The person's preferences, for all their browsers. The server stores them; this browser caches them, so that the next
 * start has them before the server answers. A choice shows at once. If the server refuses it, the old value returns,
 * with the reason.
 */
import { effect, signal } from "@preact/signals";
import { keyChanges } from "../keys.js";
import { mailPath } from "../mail/address.js";
import { address, navigate, place, useHome } from "../router.js";
import { mutate, query } from "../rpc.js";
import { dateStyle } from "../ui/dates.js";
import { toast } from "../ui/toast.js";
import { reasonOf } from "./fetched.js";

/** @typedef {OutputOf<"preferences.get">} Preferences */

const KEY = "svc.preferences";
const LAST_KEY = "svc.last";
const INBOX = "/p/mail";
const PATH = /^\/[^/\\]/;

/** @type {Preferences} */
const DEFAULTS = { language: "", hours: "auto", dateOrder: "auto", weekStart: "auto", startPage: "inbox",
  startAccount: "", keys: {} };

export const preferences = signal(kept());
/** The address to which this start was sent from `/`; "" where it began at another address. */
let sentTo = "";

/** Uses the cached preferences until the server has answered. Called once, before anything is drawn. */
export function beginPreferences() {
  const wasAtTheDoor = location.pathname === "/";
  useHome(startPath);
  sentTo = wasAtTheDoor ? startPath() : "";
  effect(() => apply(preferences.value));
}

/** Loads the preferences, and stores the last address from then on. Called once. */
export function startPreferences() {
  void loadPreferences().then(() => {
    const here = location.pathname + location.search;
    if (sentTo && here === sentTo) navigate(startPath(), { replace: true }); // it was not cached here yet
    effect(() => {
      const { pathname, search, searchParams } = address.value;
      if (place.value.route && !searchParams.has("q")) keep(LAST_KEY, pathname + search); // no words that were typed
    });
  });
}

export async function loadPreferences() {
  try {
    take(await query("preferences.get"));
  } catch {
    // The cached preferences stay in use; the banner says that the server is away.
  }
}

/** @param {Partial<Preferences>} changes */
export async function prefer(changes) {
  const before = preferences.value;
  preferences.value = { ...before, ...changes };
  try {
    take(await mutate("preferences.set", changes));
  } catch (error) {
    preferences.value = before;
    toast(`That was not kept: ${reasonOf(error)}`, { tone: "error" });
  }
}

/** Deletes the cached data, so that the next person at this browser begins anew. */
export async function forgetPreferences() {
  for (const key of [KEY, LAST_KEY]) keep(key, null);
}

/** The address with which the app opens. */
function startPath() {
  const { startPage, startAccount } = preferences.value;
  if (startPage === "account" && startAccount) return mailPath(startAccount);
  if (startPage === "tasks") return "/p/tasks";
  if (startPage === "pages") return "/p/"; // the list of all
  const last = startPage === "last" ? keptText(LAST_KEY) : null;
  return last && PATH.test(last) ? last : INBOX;
}

/** @param {Preferences} found */
function take(found) {
  preferences.value = found;
  keep(KEY, JSON.stringify(found));
}

/** @param {Preferences} found */
function apply({ language, hours, dateOrder, weekStart, keys }) {
  setIfOther(dateStyle, { language, hours, order: dateOrder, weekStart });
  setIfOther(keyChanges, keys);
}

/**
 * Every date and every key's name on the page is drawn again for another value.
 * @template Value
 * @param {import("@preact/signals").Signal<Value>} signal @param {Value} value
 */
function setIfOther(signal, value) {
  if (JSON.stringify(signal.peek()) !== JSON.stringify(value)) signal.value = value;
}

/** @returns {Preferences} */
function kept() {
  try {
    return { ...DEFAULTS, .../** @type {object} */ (JSON.parse(keptText(KEY) ?? "{}")) };
  } catch {
    return DEFAULTS;
  }
}

/** @param {string} key */
function keptText(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** @param {string} key @param {string | null} text */
function keep(key, text) {
  try {
    if (text === null) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // A browser that stores nothing asks the server at each start.
  }
}
