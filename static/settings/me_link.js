// @ts-check
/** The link to the settings, in the frame of every page: the person's avatar, or an icon while nobody is signed in. */
import { me } from "../session.js";
import { Avatar } from "../ui/avatar.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

export function MeSign() {
  const user = me.value?.user;
  return user ? html`<span class="me-sign"><${Avatar} person=${{ name: user.name, address: user.email }} /></span>`
    : html`<${Icon} name="settings" />`;
}

export function meLabel() {
  const user = me.value?.user;
  return user ? `Settings. Signed in as ${user.email}` : "Settings";
}
