// @ts-check
/** The choice of the sender: every address of every account that the person may send from. */
import { html } from "../../ui/html.js";
import { accounts } from "../accounts.js";
import { connectOpen } from "../connect.js";
import { defaultAddress, sendable } from "../own_addresses.js";

/** @typedef {{ accountId: string, fromAddress?: string | null }} Sender */

/** Shown where there is a choice. @param {{ sender: Sender, change: (sender: Sender) => void }} props */
export function From({ sender, change }) {
  const known = (accounts.value ?? []).filter((one) => mayBeFrom(one) || one.id === sender.accountId);
  const choices = known.flatMap((account) => addressesOf(account, sender).map((address) => ({ account, address })));
  if (choices.length < 2) return null;
  const here = known.find((one) => one.id === sender.accountId);
  const chosen = here && valueOf(here, sender.fromAddress ?? defaultAddress(here));
  const choose = (/** @type {{ currentTarget: HTMLSelectElement }} */ { currentTarget }) => {
    const found = choices.find(({ account, address }) => valueOf(account, address) === currentTarget.value);
    if (found) change({ accountId: found.account.id, fromAddress: found.address });
  };
  return html`<div class="compose-line">
    <label for="compose-from">From</label>
    <select id="compose-from" value=${chosen} onChange=${choose}>
      ${choices.map(({ account, address }) => html`<option key=${valueOf(account, address)}
        value=${valueOf(account, address)}>${address}${hintOf(account, address)}</option>`)}
    </select>
  </div>`;
}

/** Shown before the person writes: the account of this mail can't send it. @param {{ sender: Sender }} props */
export function CannotSend({ sender }) {
  const account = accounts.value?.find((one) => one.id === sender.accountId);
  if (!account || mayBeFrom(account)) return null;
  const why = account.sends === false ? "is kept on this server alone" : account.state === "disconnected"
    ? "is disconnected" : "is shared with you to read";
  return html`<p class="compose-notes" role="status"><bdi>${account.address}</bdi> ${why}, so it can’t send. ${
    accounts.value?.some(mayBeFrom) ? "Choose another account under From." : html`<button type="button"
      class="link" onClick=${() => { connectOpen.value = true; }}>Connect an account</button>`}</p>`;
}

/** @param {Account} account */
function mayBeFrom({ access, state, sends }) {
  return sends && access !== "read" && state !== "disconnected";
}

/**
 * The addresses to choose from. A chosen address that was removed since is still shown: sending then reports it.
 * @param {Account} account
 * @param {Sender} sender
 */
function addressesOf(account, { accountId, fromAddress }) {
  const able = sendable(account);
  return accountId !== account.id || !fromAddress || able.includes(fromAddress) ? able : [...able, fromAddress];
}

/** @param {Account} account @param {string} address */
function valueOf(account, address) {
  return address === account.address ? account.id : `${account.id} ${address}`;
}

/** @param {Account} account @param {string} address */
function hintOf(account, address) {
  if (!sendable(account).includes(address)) return " (no address of this account any more)";
  if (account.state === "reconnect") return " (needs to be connected again)";
  return address === account.address ? "" : `, by ${account.address}`;
}
