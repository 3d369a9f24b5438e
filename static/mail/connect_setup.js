// @ts-check
/**
 * A provider's own sign-in: the button, and for an admin the one-time setup at the provider: the lines to copy, the
 * form for the client's id and secret, a test, and the meaning of a later refusal.
 */
import { useState } from "preact/hooks";
import { CredentialForm, Callbacks, TestButton } from "../capabilities/credential_form.js";
import { isAdmin, loadMe } from "../session.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { CopyLine } from "../ui/copy.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { GOOGLE_ERRORS, GoogleSteps, MICROSOFT_ERRORS, MicrosoftSteps } from "./connect_steps.js";
import { startPath } from "./start_path.js";

/** @typedef {OutputOf<"mail.signIns">[number]} SignIn */

/** The providers with their own sign-in, side by side. @param {{ address: string }} props */
export function SignInChoices({ address }) {
  const ways = useFetched("mail.signIns");
  const [chosen, setChosen] = useState("");
  const way = ways.data?.find((one) => one.provider === chosen);
  return html`<section class="connect-sign-ins" aria-labelledby="connect-sign-ins-title">
    <h2 id="connect-sign-ins-title">With your provider’s sign-in</h2>
    <div class="connect-choices">${ways.data?.map((one) => (one.ready
      ? html`<a key=${one.provider} class="button" href=${startPath(address, one.provider)}>${one.service}</a>`
      : html`<button key=${one.provider} type="button" class="button" aria-expanded=${one.provider === chosen}
          onClick=${() => setChosen(one.provider === chosen ? "" : one.provider)}>${one.service}</button>`))}</div>
    ${way && html`<${SetUpHere} key=${way.provider} way=${way} changed=${ways.load} />`}
  </section>`;
}

/**
 * For an account whose provider's sign-in is not set up, or not any more.
 * @param {{ account: { address: string, provider: string } }} props
 */
export function SignInAgain({ account }) {
  const ways = useFetched("mail.signIns");
  const way = ways.data?.find((one) => one.provider === account.provider);
  return html`<${Pending} of=${ways} what="the sign-ins" />
    ${way && (way.ready
      ? html`<a class="button primary" href=${startPath(account.address, way.provider)}>Sign in at ${way.service}</a>`
      : html`<${SetUpHere} way=${way} changed=${ways.load} other="" />`)}`;
}

/**
 * `other`: what else a person who is no admin can do.
 * @param {{ way: SignIn, changed: () => Promise<void>, other?: string }} props
 */
export function SetUpHere({ way, changed, other = "; or connect your mailbox with a password" }) {
  if (!isAdmin()) {
    return html`<p class="notice"><${Icon} name="warning" /><span>This server is not set up yet for ${way.service}’s
      sign-in. Ask your admin to do that${other}.</span></p>`;
  }
  return html`<${ProviderSetup} way=${way} changed=${changed} />`;
}

/**
 * For an admin: the steps at the provider, and their result. `changed`: called after the client changed.
 * @param {{ way: SignIn, changed: () => Promise<void> }} props
 */
export function ProviderSetup({ way, changed }) {
  const credentials = useFetched("capabilities.list");
  const [replacing, setReplacing] = useState(false);
  const client = credentials.data?.find((one) => one.name === way.client);
  const reload = async () => {
    setReplacing(false);
    await Promise.all([credentials.load(), changed(), loadMe()]);
  };
  const isGoogle = way.provider === "gmail";
  const form = client && html`<${CredentialForm} credential=${client} saved=${() => void reload()} focused=${false}
    close=${replacing ? () => setReplacing(false) : undefined} />`;
  return html`<div class="connect-setup">
    ${way.faked && html`<p class="notice"><${Icon} name="warning" /><span>This server runs with fakes in the place of
      every provider. What you set here is kept, and counts once it runs without them.</span></p>`}
    <${Pending} of=${credentials} what="what is set" />
    ${client?.configured && html`<div class="connect-set">
      <p><span class="badge open">set</span> ${way.service} knows this server by the client that is kept here.</p>
      <div class="credential-steps">
        ${way.ready && html`<a class="button small primary" href=${startPath("", way.provider)}>Connect a mailbox</a>`}
        <${TestButton} key=${client.version} name=${way.client} title=${client.title} changed=${credentials.load} />
        ${!replacing && html`<button class="button small" type="button" onClick=${() => setReplacing(true)}>Replace the
          client</button>`}
      </div>
    </div>`}
    ${client && (!client.configured || replacing) && html`<details class="steps" open>
      <summary><${Icon} name="chevron" size=${14} /> Once, before the first account: ${isGoogle
        ? "create an OAuth client" : "register an app there"}</summary>
      ${isGoogle
        ? html`<${GoogleSteps} callbacks=${html`<${Callbacks} callbacks=${client.callbacks} />`} form=${form} />`
        : html`<${MicrosoftSteps} way=${way} callbacks=${html`<${CopyLine} text=${way.redirectUri}
            label="the redirect URI" />`} form=${form} />`}
    </details>`}
    <${Errors} of=${isGoogle ? GOOGLE_ERRORS : MICROSOFT_ERRORS} service=${way.service} />
  </div>`;
}

/** @param {{ of: readonly { said: string, means: string, then: string }[], service: string }} props */
function Errors({ of, service }) {
  return html`<details class="steps">
    <summary><${Icon} name="chevron" size=${14} /> When ${service} refuses: what it says, and what to do</summary>
    <dl class="connect-errors">${of.map(({ said, means, then }) => html`<div key=${said}>
      <dt><code>${said}</code></dt><dd>${means} <b>${then}</b></dd></div>`)}</dl>
  </details>`;
}
