// @ts-check
/** Who is here: the answer of /auth/me, which also says how one may log in. */
import { signal } from "@preact/signals";
import { goToLogin } from "./rpc.js";

export const me = signal(/** @type {Me | null} */ (null));

/** Ask again, and go to the login page if this browser may not be here. */
export async function loadMe() {
  try {
    const response = await fetch("/auth/me", { credentials: "same-origin", cache: "no-store" });
    if (!response.ok) return;
    me.value = await response.json();
  } catch {
    return; // the banner says that the server is away
  }
  if (me.value?.mode === "claimed" && !me.value.user) goToLogin();
}
