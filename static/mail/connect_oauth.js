// @ts-check
/**
 * A mailbox whose provider takes no password: by the provider's own sign-in, or what is to be set up there first, with
 * the exact lines to copy.
 */
import { isAdmin } from "../session.js";
import { CopyLine } from "../ui/copy.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

/** @typedef {OutputOf<"mail.discover">} Found */

/** Providers that have a sign-in of their own beside the identity provider's. */
const NAMED = ["outlook"];

/** @param {string} address @param {string} [provider] */
export function startPath(address, provider = "") {
  const asked = new URLSearchParams();
  if (NAMED.includes(provider)) asked.set("provider", provider);
  if (address) asked.set("email", address);
  return asked.size ? `/oauth/mail/start?${asked}` : "/oauth/mail/start";
}

/** @param {{ address: string, found: Found }} props */
export function OAuthConnect({ address, found }) {
  const { help, oauth } = found;
  return html`<div class="connect-oauth">
    <p class="notice"><${Icon} name="warning" /><span>${help}</span></p>
    ${oauth?.ready && html`<p>
      <a class="button primary" href=${startPath(address, oauth.provider)}>Connect with ${oauth.service}</a>
    </p>`}
    ${oauth && !oauth.ready && (isAdmin()
      ? oauth.provider === "outlook" && html`<${MicrosoftSteps} oauth=${oauth} />`
      : html`<p class="quiet-text">This server is not set up for it yet: ask your admin to do that.</p>`)}
  </div>`;
}

/** @param {{ oauth: NonNullable<Found["oauth"]> }} props */
function MicrosoftSteps({ oauth }) {
  const scopes = oauth.scopes.map((one) => one.replace(/^https:\/\/outlook\.office\.com\//, ""));
  return html`<details class="steps" open>
    <summary><${Icon} name="chevron" size=${14} /> Once, before the first account: register an app there</summary>
    <ol>
      <li>In the <a href="https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade"
        target="_blank" rel="noopener noreferrer">Microsoft Entra admin center</a>, under <b>App registrations</b>,
        choose <i>New registration</i>: any name, and accounts in <i>any organizational directory and personal Microsoft
        accounts</i>, or those of your organisation alone.</li>
      <li>As redirect URI choose the platform <b>Web</b> and
        <${CopyLine} text=${oauth.redirectUri} label="the redirect URI" /></li>
      <li>Under <b>API permissions</b> add these delegated permissions of <i>Microsoft Graph</i>:
        <${CopyLine} text=${scopes.join(" ")} label="the permissions" />
        In an organisation that lets people consent to no apps, choose <i>Grant admin consent</i>, too.</li>
      <li>Under <b>Certificates & secrets</b> make a client secret, and copy its <i>value</i>.</li>
      <li>Set the <i>Application (client) ID</i> and that value here, under${" "}
        <a href="/settings/credentials">Settings, Credentials</a>; for an app of one organisation also its${" "}
        <i>Directory (tenant) ID</i>. Then come back.</li>
    </ol>
  </details>`;
}
