// @ts-check
/**
 * A mailbox whose provider has its own sign-in: connects by it, or shows what has to be set up at the provider first.
 */
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { SetUpHere } from "./connect_setup.js";
import { startPath } from "./start_path.js";

/** @typedef {OutputOf<"mail.discover">} Found */

/**
 * For a provider that accepts no password.
 * @param {{ address: string, found: Found, again: () => Promise<void> }} props
 */
export function OAuthConnect({ address, found, again }) {
  const { help, oauth } = found;
  return html`<div class="connect-oauth">
    <p class="notice"><${Icon} name="warning" /><span>${help}</span></p>
    ${oauth?.ready && html`<p>
      <a class="button primary" href=${startPath(address, oauth.provider)}>Connect with ${oauth.service}</a>
    </p>`}
    ${oauth && !oauth.ready && html`<${SetUpHere} way=${oauth} changed=${again} />`}
  </div>`;
}
