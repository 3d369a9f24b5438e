// @ts-check
/** Who is here: the answer of /auth/me, which also says how one may sign in. */
import { signal } from "@preact/signals";
import { goToLogin } from "./rpc.js";

export const me = signal(/** @type {Me | null} */ (null));
/** Why nobody knows who is here, while that is so. */
export const meProblem = signal(/** @type {string | null} */ (null));

/** Without sign-in everybody is the admin. */
export function isAdmin() {
  return me.value !== null && (me.value.user === null || me.value.user.role === "admin");
}

/**
 * A browser keeps the page that is left whole and shows it again at Back, also when the session has ended meanwhile:
 * what was kept shows nothing, and begins anew. Called once.
 */
export function startForgetting() {
  addEventListener("pagehide", (event) => {
    if (event.persisted) document.body.hidden = true;
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });
}

/** Ask again, and go to the login page if this browser may not be here. */
export async function loadMe() {
  try {
    const response = await fetch("/auth/me", { credentials: "same-origin", cache: "no-store" });
    meProblem.value = response.ok ? null : `The server answered ${response.status}.`;
    if (!response.ok) return;
    const found = await response.json();
    const isStranger = found.mode === "claimed" && !found.user;
    if (isStranger && location.pathname !== "/login") goToLogin();
    else me.value = found;
  } catch {
    meProblem.value = "The server can’t be reached."; // on other pages the banner says it
  }
}
