// @ts-check
/** The blocked senders, whose mail goes to the trash or to spam when it arrives, and a button to unblock each. */
import { mutate } from "../../rpc.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { Nothing } from "../../ui/empty.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { day } from "../../settings/dates.js";
import { Pending, useFetched } from "../../settings/fetched.js";
import { accountOf } from "../accounts.js";
import { PLACE_WORDS } from "../blocking.js";

export function BlockedSection() {
  const senders = useFetched("mail.blockedSenders");
  const unblock = async (/** @type {string} */ id) => {
    try {
      await mutate("mail.unblockSender", { id });
    } finally {
      await senders.load();
    }
  };
  return html`<section class="setting" aria-label="Blocked senders">
    <p class="fine">What they send goes to spam or the trash as it arrives, and you are not notified.</p>
    <${Pending} of=${senders} what="the senders" />
    ${senders.data?.length === 0 && html`<${Nothing} icon="blocked-sender" title="Nobody is blocked">
      <p>The menu of each message has “Block sender”.</p></${Nothing}>`}
    <ul class="things">${senders.data?.map(({ id, address, accountId, to, since }) => html`<li key=${id} class="thing">
      <span class="thing-icon"><${Icon} name="blocked-sender" /></span>
      <div class="thing-text">
        <p class="thing-title"><bdi>${address}</bdi></p>
        <p class="fine">To ${PLACE_WORDS[to]}, in ${accountId === null ? "all your accounts"
          : html`<bdi>${accountOf(accountId)?.address ?? "one account"}</bdi>`}, since ${day(since)}</p>
      </div>
      <${ConfirmButton} label="Unblock" what=${address} run=${() => unblock(id)} />
    </li>`)}</ul>
  </section>`;
}
