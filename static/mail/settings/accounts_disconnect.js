// @ts-check
/**
 * The dialog that disconnects an account: it keeps the mail here, or erases it; to erase, the person has to type the
 * address of the account.
 */
import { useState } from "preact/hooks";
import { mutate } from "../../rpc.js";
import { number } from "../../ui/format.js";
import { useAction } from "../../ui/action.js";
import { html } from "../../ui/html.js";
import { Modal } from "../../ui/modal.js";
import { toast } from "../../ui/toast.js";

/** What becomes of the access, by provider or sign-in; else the grant is taken back. @type {Record<string, string>} */
const ENDS = {
  password: "The password is erased here. If it is an app password, it works until you revoke it at the provider.",
  outlook: "The access is erased here. Microsoft has no way to take it back from here: remove svc from the apps of your"
    + " Microsoft account as well.",
};

/** @param {{ account: Account, onlyErase: boolean, close: () => void, changed: () => Promise<void> }} props */
export function DisconnectDialog({ account, onlyErase, close, changed }) {
  const [erase, setErase] = useState(onlyErase);
  const [typed, setTyped] = useState("");
  const { busy, problem, run } = useAction();
  const { id, address } = account;
  const isSure = !erase || typed.trim().toLowerCase() === address.toLowerCase();
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (!isSure) return;
    void run(async () => {
      const { notice } = await mutate("mail.disconnect", { accountId: id, erase });
      toast(notice ?? (erase ? `${address} is being erased from this server.` : `${address} is disconnected.`));
      close();
      await changed();
    });
  };
  const choice = (/** @type {boolean} */ value, /** @type {string} */ label, /** @type {string} */ about) =>
    html`<label class="choice">
    <input type="radio" name="what" checked=${erase === value} onChange=${() => setErase(value)} />
    <span><b>${label}</b><span class="fine">${about}</span></span>
  </label>`;
  const title = onlyErase ? `Erase ${address}` : `Disconnect ${address}`;
  return html`<${Modal} label=${title} class="leave-dialog" close=${close}>
    <form onSubmit=${submit}>
      <h2>${title}</h2>
      ${!onlyErase && html`<p>${ENDS[account.provider] ?? ENDS[account.signIn ?? ""]
        ?? "Access ends here and at the provider."} What waits to be sent from this account is not sent.</p>`}
      ${!onlyErase && choice(false, "Keep the mail here",
        `${number(account.messages ?? 0)} messages stay readable, and the account can be connected again.`)}
      ${!onlyErase && choice(true, "Erase the mail here",
        "Messages, files, drafts, labels, snoozes and what search knows of them. It can't be undone.")}
      ${onlyErase && html`<p>Messages, files, drafts, labels, snoozes and what search knows of them go. It can't be
        undone.</p>`}
      <p class="fine">${account.signIn === null ? "This mail may be nowhere else: it is kept on this server alone."
        : "The mailbox at the provider is not touched."} People met in its mail stay, and their pages.</p>
      ${erase && html`<label class="field">Type ${address} to erase it
        <input type="text" autocomplete="off" autocapitalize="none" spellcheck=${false} value=${typed}
          onInput=${(/** @type {InputEvent} */ event) =>
            setTyped(/** @type {HTMLInputElement} */ (event.target).value)} />
      </label>`}
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
      <div class="dialog-foot">
        <button class=${`button ${erase ? "danger" : "primary"}`} disabled=${!isSure} aria-busy=${busy}>
          ${erase ? "Erase" : "Disconnect"}</button>
        <button class="button" type="button" onClick=${close}>Cancel</button>
      </div>
    </form>
  </${Modal}>`;
}
