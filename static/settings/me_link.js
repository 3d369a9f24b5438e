// @ts-check
/** The way to the settings, in the frame around every page. */
import { me } from "../session.js";
import { Avatar } from "../ui/avatar.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

/** The way to the settings: one's own initial, or a plain sign while nobody is signed in. */
export function MeLink() {
  const user = me.value?.user;
  const title = user ? `Settings. Signed in as ${user.email}` : "Settings";
  return html`<a class="icon-button me-button" href="/settings" aria-label=${title} title=${title}>
    ${user ? html`<${Avatar} person=${{ name: user.name, address: user.email }} />` : html`<${Icon} name="settings" />`}
  </a>`;
}
