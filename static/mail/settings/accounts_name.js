// @ts-check
/** The name that is shown beside the address in From of an account's mail. */
import { useState } from "preact/hooks";
import { mutate } from "../../rpc.js";
import { useAction } from "../../ui/action.js";
import { html } from "../../ui/html.js";
import { toast } from "../../ui/toast.js";

const MAX_CHARS = 200;

/** @param {{ account: Account }} props */
export function SenderName({ account }) {
  const [name, setName] = useState(account.senderName ?? "");
  const { busy, problem, run } = useAction();
  const id = `name-${account.id}`;
  const typed = (/** @type {Event} */ event) => setName(/** @type {HTMLInputElement} */ (event.currentTarget).value);
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    void run(async () => {
      await mutate("mail.setSenderName", { accountId: account.id, name });
      toast(`Mail from ${account.address} bears ${name.trim() ? "this" : "no"} name now.`);
    });
  };
  return html`<form class="account-name" onSubmit=${save}>
    <label class="fine" for=${id}>Your name in From</label>
    <div class="account-name-row">
      <input id=${id} value=${name} maxlength=${MAX_CHARS} autocomplete="name" onInput=${typed} />
      ${(busy || name !== (account.senderName ?? "")) && html`<button class="button small" aria-busy=${busy}
        aria-label=${`Save the name in From of ${account.address}`}>Save</button>`}
    </div>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </form>`;
}
