// @ts-check
/** The setup of the providers' own sign-in for mailboxes: set up once, tested, corrected. For admins. */
import { ProviderSetup } from "../connect_setup.js";
import { Pending, useFetched } from "../../settings/fetched.js";
import { html } from "../../ui/html.js";

export function SignInsSection() {
  const ways = useFetched("mail.signIns");
  return html`<p class="fine">Mailboxes with a password need none of this. Google’s client also lets people sign in to
      this workspace.</p>
    <${Pending} of=${ways} what="the sign-ins" />
    ${ways.data?.map((way) => html`<section key=${way.provider} class="setting"
      aria-labelledby=${`way-${way.provider}`}>
      <h2 id=${`way-${way.provider}`}>${way.service}</h2>
      <${ProviderSetup} way=${way} changed=${ways.load} />
    </section>`)}`;
}
