// @ts-check
/** The signed-in person: the answer of /auth/me, which also lists the ways to sign in. */
import { signal } from "@preact/signals";
import { goToLogin } from "./rpc.js";

/** That somebody was signed in in this tab, until they sign out. */
const SIGNED_IN = "svc.signed-in";

export const me = signal(/** @type {Me | null} */ (null));
/** Why the answer is missing, while it is. */
export const meProblem = signal(/** @type {string | null} */ (null));

/** Whether the person is an admin. Without sign-in everybody is. */
export function isAdmin() {
  return me.value !== null && (me.value.user === null || me.value.user.role === "admin");
}

/**
 * A browser may keep a page in memory and show it again at Back, even if the session has ended meanwhile: so the page
 * is hidden when it is left, and then loaded again. Called once.
 */
export function startForgetting() {
  addEventListener("pagehide", (event) => {
    if (event.persisted) document.body.hidden = true;
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}

/** Fetches the session again, and goes to the login page if this browser has none. */
export async function loadMe() {
  try {
    const response = await fetch("/auth/me", { credentials: "same-origin", cache: "no-store" });
    meProblem.value = response.ok ? null : `The server answered ${response.status}.`;
    if (!response.ok) return;
    const found = await response.json();
    const isStranger = found.mode === "claimed" && !found.user;
    if (found.user) noteSignedIn(true);
    if (isStranger && location.pathname !== "/login") goToLogin();
    else me.value = found;
  } catch {
    meProblem.value = "The server can’t be reached."; // on other pages the banner shows it
  }
}

/** @param {boolean} is false: the person signs out, and this tab deletes all that it stores of them */
export function noteSignedIn(is) {
  try {
    if (is) sessionStorage.setItem(SIGNED_IN, "1");
    else sessionStorage.clear();
  } catch {
    // If the browser stores nothing for us, the login page does not say that the session has ended.
  }
}

/** Whether a session in this tab has ended by itself. For the login page. */
export function wasSignedIn() {
  try {
    return sessionStorage.getItem(SIGNED_IN) !== null;
  } catch {
    return false;
  }
}
