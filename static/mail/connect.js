// @ts-check
/** The dialog that connects a mail account, and the buttons that open it. Its form is loaded when it is first shown. */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { late } from "../late.js";
import { query } from "../rpc.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { startPath } from "./start_path.js";

const ConnectForm = late(() => import("./connect_form.js"), "ConnectForm");

export const connectOpen = signal(false);
/** The account that the dialog reconnects; null: it connects a new one. */
const connectedBefore = signal(/** @type {Known | null} */ (null));

/** @typedef {Pick<Account, "id" | "address" | "provider" | "signIn">} Known */

/**
 * The button that reconnects an account: by its provider's consent screen; by the dialog if it uses a password, or if
 * that sign-in is not set up here.
 * @param {{ account: Known, label?: string, primary?: boolean, name?: string }} props
 */
export function ConnectAgain({ account, label = "Reconnect", primary = false, name }) {
  if (account.signIn === null) return null;
  const looks = `button small ${primary ? "primary" : ""}`;
  const open = () => {
    connectedBefore.value = account;
    connectOpen.value = true;
  };
  if (account.signIn === "oauth") {
    const href = startPath(account.address, account.provider);
    const signIn = async (/** @type {MouseEvent} */ event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      if (await isSetUp(account.provider)) location.assign(href);
      else open();
    };
    return html`<a class=${looks} href=${href} aria-label=${name} onClick=${signIn}>${label}</a>`;
  }
  return html`<button class=${looks} aria-label=${name} onClick=${open}>${label}</button>`;
}

/** Whether people can sign in at a provider. An answer that fails counts as yes: the next page tells what is wrong.
 * @param {string} provider */
async function isSetUp(provider) {
  const ways = await query("mail.signIns").catch(() => []);
  return ways.find((one) => one.provider === provider)?.ready ?? true;
}

/** For another account, or to reconnect a known one. */
export function ConnectDialog() {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const open = connectOpen.value;
  const known = connectedBefore.value;
  useLayoutEffect(() => {
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
      <${ConnectForm} known=${known} done=${close} />
    </div>`}
  </dialog>`;
}
