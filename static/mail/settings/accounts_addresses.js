// @ts-check
/** The addresses that an account may send from: its own, its provider's, and those that its owner adds here. */
import { useState } from "preact/hooks";
import { mutate } from "../../rpc.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { plural } from "../../ui/format.js";
import { useAction } from "../../ui/action.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { toast } from "../../ui/toast.js";

const MAX_NAME_CHARS = 200;
const MAX_ADDRESS_CHARS = 320;

/** @param {{ account: Account }} props */
export function Addresses({ account }) {
  if (account.sends === false) return null;
  const { addresses } = account;
  const title = addresses.length > 1 ? plural(addresses.length, "address", "addresses") : "Add another address";
  return html`<details class="folded">
    <summary aria-label=${`${title}: ${account.address}`}><${Icon} name="chevron" size=${14} /> ${title}</summary>
    <p class="fine">Mail to any of these is mail to you, and a reply is from the address that the mail came to. Add only
      what your provider lets you send from: it may refuse another address, or write this account’s in its place.</p>
    <ul class="things">${addresses.map((one) =>
      html`<${AddressRow} key=${one.address} account=${account} one=${one} />`)}</ul>
    <${AddAddress} account=${account} />
  </details>`;
}

/** @param {{ account: Account, one: MailAddressOut }} props */
function AddressRow({ account, one }) {
  const wanted = { accountId: account.id, address: one.address };
  return html`<li class="thing">
    <span class="thing-text"><bdi>${one.address}</bdi>${" "}<span class="fine">${aboutOf(one)}</span></span>
    ${one.confirmed && !one.default && html`<${ConfirmButton} label="Make default" what=${one.address}
      run=${async () => void (await mutate("mail.setDefaultAddress", wanted))} />`}
    ${one.source === "person" && html`<${ConfirmButton} label="Remove" what=${one.address}
      run=${async () => void (await mutate("mail.removeAddress", wanted))} />`}
  </li>`;
}

/** @param {MailAddressOut} one */
function aboutOf({ name, source, confirmed, default: isDefault }) {
  return [
    source !== "account" && name,
    isDefault && "new mail is from it",
    source === "provider" && (confirmed ? "known at the provider" : "not confirmed at the provider yet"),
  ].filter(Boolean).join(", ");
}

/** @param {{ account: Account }} props */
function AddAddress({ account }) {
  const [address, setAddress] = useState("");
  const [name, setName] = useState("");
  const { busy, problem, run } = useAction();
  const typed = (/** @type {(value: string) => void} */ set) => (/** @type {Event} */ event) =>
    set(/** @type {HTMLInputElement} */ (event.currentTarget).value);
  const add = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!address.trim()) return;
    void run(async () => {
      await mutate("mail.setAddress", { accountId: account.id, address, name });
      toast(`Mail from ${account.address} may be from ${address.trim()} now.`);
      setAddress("");
      setName("");
    });
  };
  return html`<form class="account-name" onSubmit=${add}>
    <div class="account-name-row">
      <input type="email" placeholder="Address" aria-label=${`Another address of ${account.address}`} value=${address}
        maxlength=${MAX_ADDRESS_CHARS} autocomplete="off" onInput=${typed(setAddress)} />
      <input placeholder="Name, if another" aria-label="Its name in From" value=${name} maxlength=${MAX_NAME_CHARS}
        autocomplete="off" onInput=${typed(setName)} />
      <button class="button small" aria-busy=${busy} disabled=${!address.trim()}>Add</button>
    </div>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </form>`;
}
