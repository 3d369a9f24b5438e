// @ts-check
/** The senders whose remote images are loaded without asking, and a button to remove each. */
import { mutate } from "../../rpc.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { Nothing } from "../../ui/empty.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { day } from "../../settings/dates.js";
import { Pending, useFetched } from "../../settings/fetched.js";

export function ImagesSection() {
  const senders = useFetched("mail.trustedSenders");
  const askAgain = async (/** @type {string} */ address) => {
    try {
      await mutate("mail.trustSender", { address, trusted: false });
    } finally {
      await senders.load();
    }
  };
  return html`<section class="setting" aria-labelledby="images-title">
    <h2 id="images-title">Senders whose images are loaded</h2>
    <p class="fine">Images of everybody else wait until you load them: fetching one tells its sender that you read the
      message.</p>
    <${Pending} of=${senders} what="the senders" />
    ${senders.data?.length === 0 && html`<${Nothing} icon="image" title="No senders yet"><p>“Always for this sender”,
      above a message whose images wait, adds one here.</p></${Nothing}>`}
    <ul class="things">${senders.data?.map(({ address, since }) => html`<li key=${address} class="thing">
      <span class="thing-icon"><${Icon} name="image" /></span>
      <div class="thing-text">
        <p class="thing-title"><bdi>${address}</bdi></p>
        <p class="fine">Since ${day(since)}</p>
      </div>
      <${ConfirmButton} label="Ask again" what=${address} run=${() => askAgain(address)} />
    </li>`)}</ul>
  </section>`;
}
