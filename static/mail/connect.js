// @ts-check
/** Connects a mail account: by its password, as most people do, or by its provider's own sign-in. */
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { isAdmin } from "../session.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { PasswordConnect } from "./connect_password.js";
import { SignInChoices } from "./connect_setup.js";
import { startPath } from "./start_path.js";

export const connectOpen = signal(false);
/** The account that the dialog reconnects; null: it connects a new one. */
const connectedBefore = signal(/** @type {{ id: string, address: string } | null} */ (null));

/** The first step of the welcome, while no account is connected. */
export function Connect() {
  const [typed, setTyped] = useState("");
  return html`<h1>Connect your mail</h1>
    <p class="lead">
      svc reads your mailbox straight from your provider: no other service is in between, and your mail is stored
      on ${isAdmin() ? "this machine" : "this server"}.
    </p>
    <${PasswordConnect} done=${() => undefined} typed=${setTyped} />
    <${SignInChoices} address=${typed} />`;
}

/**
 * The button that reconnects an account: by its provider's consent screen, or by the dialog if it uses a password.
 * @param {{ account: { id: string, address: string, provider: string }, label?: string, primary?: boolean,
 *   name?: string }} props
 */
export function ConnectAgain({ account, label = "Reconnect", primary = false, name }) {
  const looks = `button small ${primary ? "primary" : ""}`;
  if (account.provider !== "imap") {
    return html`<a class=${looks} href=${startPath(account.address, account.provider)} aria-label=${name}>${label}</a>`;
  }
  const open = () => {
    connectedBefore.value = account;
    connectOpen.value = true;
  };
  return html`<button class=${looks} aria-label=${name} onClick=${open}>${label}</button>`;
}

/** The same in a dialog, for another account, or to reconnect a known one. */
export function ConnectDialog() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const open = connectOpen.value;
  const known = connectedBefore.value;
  const [typed, setTyped] = useState("");
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
  }, [open]);
  const close = () => {
    connectOpen.value = false;
    connectedBefore.value = null;
    dialog.current?.close();
  };
  return html`<dialog class="connect-dialog" ref=${dialog} aria-labelledby="connect-title" onClose=${close}>
    ${open && html`<div class="connect">
      <div class="dialog-head">
        <h2 id="connect-title">${known ? `Connect ${known.address} again` : "Connect another account"}</h2>
        <button class="icon-button" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
      </div>
      <${PasswordConnect} known=${known} done=${close} typed=${setTyped} />
      ${!known && html`<${SignInChoices} address=${typed} />`}
    </div>`}
  </dialog>`;
}
