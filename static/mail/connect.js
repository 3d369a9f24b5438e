// @ts-check
/**
 * How to connect a mail account: by its password, which most people have; or by Google's sign-in, with what to create
 * there first, the exact address to copy, and the button.
 */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { isAdmin, me } from "../session.js";
import { CopyLine } from "../ui/copy.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { startPath } from "./connect_oauth.js";
import { PasswordConnect } from "./connect_password.js";

export const connectOpen = signal(false);
/** The address that the dialog begins with. */
const connectAddress = signal("");

/** Where the provider sends the browser back to; the server's canonical spelling of a loopback address. */
export function redirectUri() {
  const loopback = ["localhost", "[::1]"].includes(location.hostname);
  const origin = loopback ? `${location.protocol}//127.0.0.1${location.port ? `:${location.port}` : ""}`
    : location.origin;
  return `${origin}/oauth/mail/callback`;
}

/** The whole page, while no account is connected. */
export function ConnectPage() {
  return html`<div class="connect-page">
    <div class="connect">
      <h1>Connect your mail</h1>
      <p class="lead">
        svc reads your mailbox straight from your provider: nobody stands in between, and your mail is stored
        on ${isAdmin() ? "this machine" : "this server"}.
      </p>
      <${PasswordConnect} done=${() => undefined} />
      <${GoogleConnect} open=${!me.value?.googleLogin} />
    </div>
  </div>`;
}

/**
 * The way back to an account: its provider's consent screen, or the dialog where it lives by a password.
 * @param {{ account: { address: string, provider: string }, label?: string, primary?: boolean, name?: string }} props
 */
export function ConnectAgain({ account, label = "Reconnect", primary = false, name }) {
  const looks = `button small ${primary ? "primary" : ""}`;
  if (account.provider !== "imap") {
    return html`<a class=${looks} href=${startPath(account.address, account.provider)} aria-label=${name}>${label}</a>`;
  }
  const open = () => {
    connectAddress.value = account.address;
    connectOpen.value = true;
  };
  return html`<button class=${looks} aria-label=${name} onClick=${open}>${label}</button>`;
}

/** The same in a dialog, for one more account. */
export function ConnectDialog() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const open = connectOpen.value;
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
  }, [open]);
  const close = () => {
    connectOpen.value = false;
    connectAddress.value = "";
    dialog.current?.close();
  };
  return html`<dialog class="connect-dialog" ref=${dialog} aria-labelledby="connect-title" onClose=${close}>
    ${open && html`<div class="connect">
      <div class="dialog-head">
        <h2 id="connect-title">Connect another account</h2>
        <button class="icon-button" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
      </div>
      <${PasswordConnect} address=${connectAddress.value} done=${close} />
      ${!connectAddress.value && html`<${GoogleConnect} open=${false} />`}
    </div>`}
  </dialog>`;
}

/** @param {{ open: boolean }} props */
function GoogleConnect({ open }) {
  return html`<section class="connect-google" aria-labelledby="connect-google-title">
    <h2 id="connect-google-title">With Google’s sign-in</h2>
    <${Connecting} open=${open} />
  </section>`;
}

/**
 * The OAuth client is the work of whoever owns the server: a member either connects, or asks them.
 * @param {{ open: boolean }} props
 */
function Connecting({ open }) {
  if (isAdmin()) return html`<${ConnectForm} /><${Steps} open=${open} />`;
  if (me.value?.googleLogin) return html`<${ConnectForm} />`;
  return html`<p class="notice">
    <${Icon} name="warning" />
    <span>This server is not set up yet for accounts with a sign-in at their provider. Ask your admin to do that; or
      connect yours with a password.
    </span>
  </p>`;
}

function ConnectForm() {
  const [address, setAddress] = useState("");
  const [problem, setProblem] = useState("");
  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    setProblem("");
    const refusal = await refusalOf(startPath(address));
    if (refusal) setProblem(refusal);
    else location.assign(startPath(address));
  };
  return html`<form class="connect-form" onSubmit=${submit}>
    <label for="connect-address">Mail address <span class="quiet-text">(optional: the provider asks, too)</span></label>
    <div class="connect-row">
      <input
        id="connect-address" type="email" autocomplete="email" placeholder="you@example.com" value=${address}
        onInput=${(/** @type {InputEvent} */ event) =>
          setAddress(/** @type {HTMLInputElement} */ (event.target).value.trim())}
      />
      <button class="button" type="submit">Connect</button>
    </div>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </form>`;
}

/** @param {{ open: boolean }} props */
function Steps({ open }) {
  return html`<details class="steps" open=${open}>
    <summary><${Icon} name="chevron" size=${14} /> Once, before the first account: create an OAuth client</summary>
    <ol>
      <li>In the <a href="https://console.cloud.google.com/projectcreate" target="_blank" rel="noopener noreferrer">
        Google Cloud console</a>${" "}
        create a project, any name, and <a href="https://console.cloud.google.com/apis/library/gmail.googleapis.com"
          target="_blank" rel="noopener noreferrer">enable the Gmail API</a> in it.</li>
      <li>Under <b>OAuth consent screen</b> choose <i>External</i> (or <i>Internal</i> in a Workspace), fill in the
        names and add your address as a test
        user. While it is in <i>testing</i>, every grant ends after 7 days: publish it to keep yours.</li>
      <li>Under <b>Credentials</b> create an OAuth client ID of type <b>Web application</b> with this authorized
        redirect URI:
        <${CopyLine} text=${redirectUri()} label="the redirect URI" /></li>
      <li>Start svc once with what you got; it keeps both, encrypted:
        <${CopyLine} text="IDP_CLIENT_ID=… IDP_CLIENT_SECRET=… svc" label="the command" /></li>
    </ol>
  </details>`;
}

/** Ask first, so that a refusal is a sentence here and not a page of JSON. @param {string} path */
async function refusalOf(path) {
  try {
    const response = await fetch(path, { redirect: "manual", credentials: "same-origin" });
    if (response.type === "opaqueredirect" || response.ok) return "";
    const problem = await response.json().catch(() => null);
    return typeof problem?.detail === "string" ? problem.detail : `The server refused (${response.status}).`;
  } catch {
    return "The server can’t be reached.";
  }
}
