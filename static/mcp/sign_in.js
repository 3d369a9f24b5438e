// @ts-check
/**
 * The sign-in at an MCP server: its address, its purpose, the OAuth client if it has to be created by hand, and the
 * buttons to sign in and out. The codes are those of SignInRefused in svc/mcp/signing; the address contains no text.
 */
import { useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { ConfirmButton } from "../ui/confirm.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";

/** @typedef {OutputOf<"mcp.servers">[number]} Server */
/** @typedef {OutputOf<"mcp.signIn">} Place */

/** @type {Record<string, string>} */
const REFUSALS = {
  "no-consent": "You did not grant access, so nothing was connected.",
  "mixed-up": "The answer came from another place than the one that you were sent to, so it was not used. Something " +
    "between them may be trying to take your access. Tell who runs that server.",
  stale: "That way back was used already, is older than ten minutes or began in another browser. Sign in again.",
  changed: "The server’s page was changed meanwhile. Look at it again, then sign in.",
  "code-rejected": "The sign-in was used already or took too long. Sign in again.",
  "client-rejected": "The place does not accept the client that this server is there. Sign in again; where you " +
    "entered the client yourself, correct it first.",
  "clock-wrong": "The clock of this server is wrong, so the sign-in can’t be checked. Set it right, then try again.",
  "wrong-identity": "What the place said of who signed in was not meant for this server.",
  away: "The place could not be asked for the access. Try again in a while.",
};
const OTHERWISE = "The place did not grant access. Try again.";

/** Why the last sign-in failed, for the server that the address names, or for an unknown one. @param {string} name */
export function refusalOf(name) {
  const asked = new URLSearchParams(location.search);
  const cause = (asked.get("server") ?? "") === name ? asked.get("signIn") : null;
  return cause === null ? "" : REFUSALS[cause] ?? OTHERWISE;
}

/** @param {{ server: Server, load: () => Promise<void> }} props */
export function SignIn({ server, load }) {
  const { name, title, signIn, signInProblem } = server;
  const [place, setPlace] = useState(/** @type {Place | null} */ (null));
  const { busy, problem, run } = useAction();
  if (signIn === "none") return null;
  const isAgain = signIn === "ended" || signIn === "more";
  if (signIn === "done") return html`<${SignedIn} name=${name} title=${title} load=${load} />`;
  const look = () => run(async () => setPlace(await mutate("mcp.signIn", { name })));
  const refused = refusalOf(name);
  return html`<div class="mcp-sign-in">
    ${isAgain && html`<div class="notice bad" role="status"><${Icon} name="warning" />
      <div><p>${signInProblem}</p></div></div>`}
    ${refused && !place && html`<p class="form-problem" role="alert">${refused}</p>`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    ${!place && html`<button type="button" class="button primary" aria-busy=${busy} onClick=${look}
      aria-label=${`Sign in: ${title}`}>${isAgain ? "Sign in again" : "Sign in"}</button>`}
    ${place?.wantsClient && html`<${OwnClient} name=${name} place=${place} look=${look} />`}
    ${place && !place.wantsClient && html`<p>You sign in at <strong>${place.place}</strong>. What you grant there is
      used at <strong>${place.server}</strong>, and nowhere else.${place.scopes.length > 0 &&
      html` It is asked for: ${place.scopes.map((one) => html`<code key=${one}>${one}</code> `)}`}</p>
      <p><a class="button primary" href=${place.start}>Go to ${place.place}</a></p>
      ${place.document && html`<details class="mcp-own-client">
        <summary>${place.place} does not accept this server?</summary>
        <p>It reads who this server is at <code>${place.document}</code>, so it has to reach that address. Where it
          can’t, make a client there by hand.</p>
        <${OwnClient} name=${name} place=${place} look=${look} /></details>`}`}
  </div>`;
}

/** @param {{ name: string, title: string, load: () => Promise<void> }} props */
function SignedIn({ name, title, load }) {
  const leave = async () => {
    await mutate("mcp.signOut", { name });
    toast(`Signed out of ${title}.`);
    await load();
  };
  return html`<div class="mcp-actions"><span class="fine">You are signed in there.</span>
    <${ConfirmButton} label="Sign out" what=${title} run=${leave} /></div>`;
}

/** @param {{ name: string, place: Place, look: () => Promise<void> }} props */
function OwnClient({ name, place, look }) {
  const [clientId, setClientId] = useState("");
  const [clientSecret, setClientSecret] = useState("");
  const { busy, problem, run } = useAction();
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    void run(async () => {
      await mutate("mcp.setClient", { name, clientId: clientId.trim(), clientSecret: clientSecret.trim() });
      await look();
    });
  };
  return html`<form class="mcp-form" onSubmit=${save}>
    <p>${place.wantsClient && `${place.place} lets no program register itself. `}Make an OAuth client there, with this
      redirect address, and enter it here: <code>${place.redirect}</code></p>
    <label class="field"><span>Client id</span><input required value=${clientId} autocomplete="off" spellcheck=${false}
      onInput=${(/** @type {Event} */ event) => setClientId(/** @type {HTMLInputElement} */ (event.target).value)}
      /></label>
    <label class="field"><span>Client secret, if it has one</span><input type="password" value=${clientSecret}
      autocomplete="off" onInput=${(/** @type {Event} */ event) =>
        setClientSecret(/** @type {HTMLInputElement} */ (event.target).value)} /></label>
    <button type="submit" class="button" aria-busy=${busy}>Keep it</button>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </form>`;
}
