// @ts-check
/** The login page: the identity provider's button where there is one, and the developer's form under the fakes. */
import { useState } from "preact/hooks";
import { me } from "../session.js";
import { html } from "../ui/html.js";
import { Mark } from "../ui/icons.js";

export function LoginPage() {
  const session = me.value;
  const invite = new URLSearchParams(location.search).get("invite") ?? "";
  if (session && (session.user || session.mode !== "claimed")) {
    return html`<${Card} title="You are in"><p><a class="button primary" href=${nextPath()}>Go to your workspace</a></p></${Card}>`;
  }
  const start = `/auth/idp/start${invite ? `?invite=${encodeURIComponent(invite)}` : ""}`;
  return html`<${Card} title="Sign in">
    <p class="lead">This workspace belongs to somebody. Sign in with an account that was invited.</p>
    ${session?.googleLogin && html`<p><a class="button primary wide" href=${start}>Continue with Google</a></p>`}
    ${session?.devLogin && html`<${DevLogin} />`}
    ${session && !session.googleLogin && !session.devLogin && html`<p class="quiet-text">
      No way to sign in is set up. On the machine itself, <code>svc claim --email you@example.com</code> prints a one-time link.
    </p>`}
  </${Card}>`;
}

/** @param {{ title: string, children?: unknown }} props */
function Card({ title, children }) {
  return html`<main class="login">
    <div class="login-card">
      <${Mark} />
      <h1>${title}</h1>
      ${children}
    </div>
  </main>`;
}

function DevLogin() {
  const [email, setEmail] = useState("");
  const [problem, setProblem] = useState("");
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const refusal = await devLogin(email);
    if (refusal) setProblem(refusal);
    else location.assign(nextPath());
  };
  return html`<form class="login-form" onSubmit=${submit}>
    <label for="dev-email">Development login</label>
    <input id="dev-email" type="email" required autocomplete="email" placeholder="you@example.com" value=${email}
      onInput=${(/** @type {InputEvent} */ event) => setEmail(/** @type {HTMLInputElement} */ (event.target).value)} />
    <button class="button wide" type="submit">Sign in</button>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </form>`;
}

/** Returns why not, or nothing. @param {string} email */
async function devLogin(email) {
  try {
    const headers = { "content-type": "application/json" };
    const response = await fetch("/auth/dev-login", { method: "POST", headers, body: JSON.stringify({ email }) });
    if (response.ok) return "";
    const problem = await response.json().catch(() => null);
    return typeof problem?.detail === "string" ? problem.detail : "That did not work.";
  } catch {
    return "The server can’t be reached.";
  }
}

/** Only a path of this very origin: a link to the login page must not lead elsewhere after it. */
function nextPath() {
  const wanted = new URLSearchParams(location.search).get("next") ?? "/p/mail";
  try {
    const url = new URL(wanted, location.origin);
    const plain = /^\/(?![/\\])[^\\\p{Cc}]*$/u.test(wanted);
    return plain && url.origin === location.origin && url.pathname !== "/login" ? url.pathname + url.search : "/p/mail";
  } catch {
    return "/p/mail";
  }
}
