// @ts-check
/** Explains that no user has claimed this workspace yet, and how the first user claims it. */
import { useState } from "preact/hooks";
import { html } from "../ui/html.js";

/** Whether the app was opened on the server's own machine. Only there the first sign-in claims the workspace without a
 *  claim token or invite. */
export function isLoopback() {
  return ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);
}

/** @param {{ invite: string, vouched?: boolean }} props */
export function Claiming({ invite, vouched = false }) {
  const lead = vouched || isLoopback() || invite;
  return html`<p class="lead">${lead
      ? "Nobody has signed in here yet. The first one who signs in claims this workspace, for good:"
      : "Nobody has signed in here yet. The first one who signs in with this server’s claim token claims it, for good:"}
      </p>
    <ul class="claiming">
      <li>You become its admin: you invite the others and decide what they may do.</li>
      <li>Mail accounts that are connected already become yours, and nobody else’s.</li>
      <li>The shared pages open to everybody you invite; your mail does not.</li>
      <li>From then on nobody gets in without signing in.</li>
    </ul>
    ${!lead && html`<${TokenForm} />`}`;
}

function TokenForm() {
  const [token, setToken] = useState("");
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const query = new URLSearchParams(location.search);
    query.delete("error");
    query.set("invite", token.trim());
    location.assign(`/login?${query}`);
  };
  return html`<form class="login-form" onSubmit=${submit}>
    <label for="claim-token">Claim token</label>
    <input id="claim-token" type="text" required autocomplete="off" autocapitalize="off" spellcheck=${false}
      value=${token}
      aria-describedby="claim-note" onInput=${(/** @type {InputEvent} */ event) =>
        setToken(/** @type {HTMLInputElement} */ (event.target).value)} />
    <p id="claim-note" class="fine">The value of <code>SVC_CLAIM_TOKEN</code>, or the code at the end of the owner’s
      invite link.</p>
    <button class="button primary wide" type="submit">Go on</button>
  </form>`;
}
