// @ts-check
/** The requests that begin and end a session. Each returns "", or a sentence that says why it failed. */
import { features } from "../feature.js";
import { forgetRecentlyUsed } from "../recently_used.js";
import { forgetStoredTexts } from "../stored_texts.js";
import { setLeaving } from "../rpc.js";
import { loadMe, noteSignedIn } from "../session.js";

/** How long the features may take to delete their data. After that, the page is left anyway. */
const FORGET_MS = 3_000;

/**
 * Signs in with only an address: works only on a server with fake providers.
 * @param {string} email
 * @param {string} invite
 */
export function devLogin(email, invite) {
  return post("/auth/dev-login", invite ? { email, invite } : { email });
}

/** Uses a link that `svc claim` printed. @param {string} token */
export function openClaimLink(token) {
  return post("/auth/claim-link", { token });
}

/** Ends this browser's session and replaces this page by the login page, so Back does not return to it. */
export async function signOut() {
  await Promise.allSettled(features().map((row) => row.leave?.()));
  setLeaving(true);
  const refusal = await post("/auth/logout", {});
  if (refusal) {
    setLeaving(false);
    void loadMe(); // the session may have ended already; then loadMe leads to the login page, too
  } else {
    forgetRecentlyUsed();
    forgetStoredTexts();
    noteSignedIn(false);
    const forgotten = Promise.allSettled(features().map((row) => row.forget?.()));
    await Promise.race([forgotten, new Promise((resolve) => setTimeout(resolve, FORGET_MS))]);
    location.replace("/login");
  }
  return refusal;
}

/**
 * The address that starts the provider's sign-in. It is a plain link: the browser leaves the app and comes back.
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
