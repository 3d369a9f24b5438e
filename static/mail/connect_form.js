// @ts-check
/** Connects a mail account: by its password, as most people do, or by its provider's own sign-in. */
import { useState } from "preact/hooks";
import { isAdmin } from "../session.js";
import { html } from "../ui/html.js";
import { PasswordConnect } from "./connect_password.js";
import { SignInAgain, SignInChoices } from "./connect_setup.js";

/** The first step of the welcome, while no account is connected. */
export function Connect() {
  return html`<h1>Connect your mail</h1>
    <p class="lead">
      svc reads your mailbox straight from your provider: no other service is in between, and your mail is stored
      on ${isAdmin() ? "this machine" : "this server"}.
    </p>
    <${ConnectForm} />`;
}

/**
 * `known`: the account that is connected again.
 * @param {{ known?: import("./connect.js").Known | null, done?: () => void }} props
 */
export function ConnectForm({ known = null, done = () => undefined }) {
  const [typed, setTyped] = useState("");
  if (known && known.signIn === "oauth") return html`<${SignInAgain} account=${known} />`;
  return html`<${PasswordConnect} known=${known} done=${done} typed=${setTyped} />
    ${!known && html`<${SignInChoices} address=${typed} />`}`;
}
