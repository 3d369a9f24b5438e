// @ts-check
/** The requests that begin and end a session. Each answers with nothing, or with a sentence that says why not. */
import { features } from "../feature.js";
import { forgetLately } from "../lately.js";
import { setLeaving } from "../rpc.js";
import { loadMe } from "../session.js";

/**
 * Sign in by an address alone: only where the server runs with fake providers.
 * @param {string} email
 * @param {string} invite
 */
export function devLogin(email, invite) {
  return post("/auth/dev-login", invite ? { email, invite } : { email });
}

/** Redeem a link that `svc claim` printed. @param {string} token */
export function openClaimLink(token) {
  return post("/auth/claim-link", { token });
}

/** End this browser's session and go to the login page, which takes the place of this one: nobody comes back to it. */
export async function signOut() {
  setLeaving(true);
  const refusal = await post("/auth/logout", {});
  if (refusal) {
    setLeaving(false);
    void loadMe(); // the session may have ended before: then the login page is the place all the same
  } else {
    forgetLately();
    await Promise.allSettled(features().map((row) => row.forget?.()));
    location.replace("/login");
  }
  return refusal;
}

/**
 * The provider's sign-in begins with a plain link: it leads away and comes back.
 * @param {string} invite
 * @param {string} next
 */
export function providerPath(invite, next) {
  const query = new URLSearchParams();
  if (invite) query.set("invite", invite);
  if (next !== "/") query.set("next", next);
  return query.size ? `/auth/idp/start?${query}` : "/auth/idp/start";
}

/**
 * @param {string} path
 * @param {object} body
 */
async function post(path, body) {
  try {
    const headers = { "content-type": "application/json" };
    const init = { method: "POST", headers, body: JSON.stringify(body),
      credentials: /** @type {const} */ ("same-origin") };
    const response = await fetch(path, init);
    if (response.ok) return "";
    const problem = await response.json().catch(() => null);
    return typeof problem?.detail === "string" ? problem.detail : `The server refused (${response.status}).`;
  } catch {
    return "The server can’t be reached.";
  }
}
