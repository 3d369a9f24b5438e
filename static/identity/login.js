// @ts-check
/**
 * The login page: whether this workspace is claimed, and all ways to sign in.
 *
 * What it shows depends on the address (`?invite=`, `?claim=`, `?error=`, `?next=`) and on /auth/me. Only to open an
 * address never does anything: a mail scanner that follows a one-time link must not use it up.
 */
import { useEffect, useState } from "preact/hooks";
import { loadMe, me, meProblem, wasSignedIn } from "../session.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { Icon, Mark } from "../ui/icons.js";
import { Claiming, isLoopback } from "./claiming.js";
import { nextPath } from "./next.js";
import { reasonFor } from "./reasons.js";
import { devLogin, openClaimLink, providerPath } from "./sign_in.js";

export function LoginPage() {
  const [query] = useState(() => new URLSearchParams(location.search));
  useEffect(() => {
    document.title = "Sign in – svc";
  }, []);
  const reason = reasonFor(query.get("error"));
  return html`<main class="login">
    <div class="login-card">
      <${Mark} />
      ${reason && html`<p class="notice bad" role="alert"><${Icon} name="warning" /> <span>${reason}</span></p>`}
      <${Content} invite=${query.get("invite") ?? ""} claim=${query.get("claim") ?? ""} />
    </div>
  </main>`;
}

/** @param {{ invite: string, claim: string }} props */
function Content({ invite, claim }) {
  const session = me.value;
  if (claim) return html`<${ClaimLink} token=${claim} first=${session?.mode === "unclaimed"} />`;
  if (!session) return html`<${Unknown} />`;
  if (session.mode === "off") return html`
    <${In} lead="This server runs without sign-in: everybody who reaches it is its admin." />`;
  if (session.user) return html`<${In} lead=${alreadyIn(session.user.email, invite)} />`;
  if (session.mode === "unclaimed") {
    return html`<h1>Claim this workspace</h1>
      <${Claiming} invite=${invite} />
      ${(invite || isLoopback()) && html`<${Ways} session=${session} invite=${invite} />`}
      ${isLoopback() && html`<p class="login-foot"><a href=${nextPath()}>Not now: go on without signing in</a></p>`}`;
  }
  return html`<h1>${invite ? "You were invited" : "Sign in"}</h1>
    <p class="lead">${invite
        ? "Sign in once to become a member of this workspace. The invite is used up by it: afterwards your account " +
          "alone opens the door."
        : wasSignedIn() ? "Your session has ended. Sign in to go on where you were."
        : "This workspace is private. Sign in with an account that is a member; a newcomer needs an invite link."}</p>
    <${Ways} session=${session} invite=${invite} />`;
}

/** Shown before the server has said whether the user is signed in. */
function Unknown() {
  if (!meProblem.value) return html`<h1>Sign in</h1><p class="sr-only" role="status">Loading</p>`;
  return html`<h1>Sign in</h1>
    <p class="lead" role="alert">${meProblem.value}</p>
    <button class="button wide" onClick=${() => void loadMe()}>Try again</button>`;
}

/** @param {{ lead: string }} props */
function In({ lead }) {
  return html`<h1>You are in</h1>
    <p class="lead">${lead}</p>
    <a class="button primary wide" href=${nextPath()}>Go to your workspace</a>`;
}

/**
 * @param {string} email
 * @param {string} invite
 */
function alreadyIn(email, invite) {
  const who = `You are signed in as ${email}.`;
  return invite
    ? `${who} The invite is for somebody new: sign out first, under Settings, to use it with another account.` : who;
}

/** @param {{ session: Me, invite: string }} props */
function Ways({ session, invite }) {
  if (!session.googleLogin && !session.devLogin) return html`<${NoWay} unclaimed=${session.mode === "unclaimed"} />`;
  return html`${session.googleLogin &&
    html`<a class="button primary wide" href=${providerPath(invite, nextPath())}>Continue with your identity provider
      </a>`}
    ${session.devLogin && html`<${DevLogin} invite=${invite} only=${!session.googleLogin} />`}`;
}

/** @param {{ unclaimed: boolean }} props */
function NoWay({ unclaimed }) {
  return html`<div class="notice">
    <div>
      <p>No identity provider is set up here. A person with access to the machine can still ${unclaimed
        ? "claim the workspace" : "sign in"}: there,
        this command prints a link that is good once, for 30 minutes.</p>
      <p><code>svc claim --email you@example.com</code></p>
    </div>
  </div>`;
}

/** @param {{ invite: string, only: boolean }} props */
function DevLogin({ invite, only }) {
  const [email, setEmail] = useState("");
  const { problem, busy, run } = useSignIn(() => devLogin(email.trim(), invite));
  return html`<form class="login-form" onSubmit=${run}>
    <label for="dev-email">Development login</label>
    <input id="dev-email" type="email" required autocomplete="email" placeholder="you@example.com" value=${email}
      aria-describedby="dev-note" onInput=${(/** @type {InputEvent} */ event) =>
        setEmail(/** @type {HTMLInputElement} */ (event.target).value)} />
    <p id="dev-note" class="fine">This server runs with fake providers: an address alone signs in.</p>
    <button class=${`button wide${only ? " primary" : ""}`} type="submit" aria-busy=${busy}>Sign in</button>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </form>`;
}

/**
 * For a link that `svc claim` printed. It is used only when the button is pressed.
 * @param {{ token: string, first: boolean }} props
 */
function ClaimLink({ token, first }) {
  const { problem, busy, run } = useSignIn(() => openClaimLink(token));
  return html`<h1>${first ? "Claim this workspace" : "Sign in with your link"}</h1>
    <p class="lead">This link was printed on the machine that runs svc, for the address named there. It opens the door
      once.</p>
    ${first && html`<${Claiming} invite="" vouched />`}
    <form class="login-form" onSubmit=${run}>
      <button class="button primary wide" type="submit" aria-busy=${busy}>${first ? "Claim and sign in" : "Sign in"}
        </button>
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    </form>
    ${problem && html`<p class="login-foot"><a href="/login">Other ways to sign in</a></p>`}`;
}

/**
 * One attempt at a time. A successful one replaces this page, so Back does not return to it.
 * @param {() => Promise<string>} attempt
 */
function useSignIn(attempt) {
  const { problem, busy, run } = useAction();
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    void run(async () => {
      const refusal = await attempt();
      if (refusal) throw new Error(refusal);
      location.replace(nextPath());
      await new Promise(() => undefined); // busy until the browser has left: a link that was used opens no second time
    });
  };
  return { problem, busy, run: submit };
}
