// @ts-check
/** The list of all users with their roles, and the invites below it. For admins. */
import { mutate } from "../../rpc.js";
import { loadMe, me } from "../../session.js";
import { Avatar } from "../../ui/avatar.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { fullTime } from "../../ui/format.js";
import { html } from "../../ui/html.js";
import { day } from "../../settings/dates.js";
import { Pending, useFetched } from "../../settings/fetched.js";
import { Invites } from "./invites.js";

export function UsersSection() {
  const users = useFetched("users.list");
  const change = async (/** @type {Member} */ user, /** @type {Role} */ role) => {
    await mutate("users.setRole", { id: user.id, role });
    await Promise.all([users.load(), loadMe()]);
  };
  return html`<section class="setting" aria-labelledby="users-title">
      <h2 id="users-title">Users</h2>
      <${Pending} of=${users} what="the users" />
      ${users.data?.length === 0 && html`<p class="quiet-text">Nobody yet: the first one who signs in becomes the admin.
        </p>`}
      <ul class="things">${users.data?.map((user) => html`<${UserRow} key=${user.id} user=${user} change=${change} />`)}
        </ul>
    </section>
    <${Invites} />`;
}

/** @param {{ user: Member, change: (user: Member, role: Role) => Promise<void> }} props */
function UserRow({ user, change }) {
  const isMe = me.value?.user?.id === user.id;
  const admin = user.role === "admin";
  const name = user.name || user.email;
  return html`<li class="thing">
    <${Avatar} person=${{ name: user.name, address: user.email }} />
    <div class="thing-text">
      <p class="thing-title">${name} ${isMe && html`<span class="quiet-text">(you)</span>`} <span
        class=${`badge ${user.role}`}>${admin ? "Admin" : "Member"}</span></p>
      <p class="fine">${user.email} · <span title=${fullTime(user.createdAt)}>since ${day(user.createdAt)}</span></p>
    </div>
    ${admin
      ? html`<${ConfirmButton} label="Make member" what=${name} run=${() => change(user, "member")}
          question=${isMe ? "You will no longer be an admin." : undefined} sure="Make me a member" />`
      : html`<${ConfirmButton} label="Make admin" what=${name} run=${() => change(user, "admin")} />`}
  </li>`;
}
