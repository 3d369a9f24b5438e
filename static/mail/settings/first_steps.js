// @ts-check
/** Reopens the first steps for people who left them: connect a mailbox, try the demo, invite people. */
import { isAdmin } from "../../session.js";
import { html } from "../../ui/html.js";
import { TryOut } from "../welcome.js";

export function FirstStepsSection() {
  return html`<section class="setting" aria-labelledby="first-connect">
      <h2 id="first-connect">Connect a mailbox</h2>
      <p class="fine">With its password, or by the sign-in of Google or Microsoft.</p>
      <div><a class="button" href="/settings/accounts">Mail accounts</a></div>
    </section>
    <section class="setting" aria-labelledby="first-demo">
      <h2 id="first-demo">Try it with made-up mail</h2>
      <${TryOut} />
    </section>
    ${isAdmin() && html`<section class="setting" aria-labelledby="first-invite">
      <h2 id="first-invite">Invite people</h2>
      <p class="fine">An invite is a link that works once. Nobody sees your mail unless you share an account.</p>
      <div><a class="button" href="/settings/users">Users and invites</a></div>
    </section>`}`;
}
