// @ts-check
/** The user's name, role and what it allows, and the button to sign out. */
import { useState } from "preact/hooks";
import { signOut } from "../sign_in.js";
import { me } from "../../session.js";
import { Avatar } from "../../ui/avatar.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";

const ROLES = {
  admin: "You invite people, see all users and devices, and change roles. Nobody else’s mail, and no page that was " +
    "not shared, opens to you by that.",
  member: "You see your own mail and pages, and what is shared with you. Ask an admin to invite somebody else.",
};

export function ProfileSection() {
  const session = me.value;
  if (!session?.user) return html`<${Nobody} off=${session?.mode === "off"} />`;
  const { user } = session;
  return html`<section class="setting" aria-labelledby="who">
    <div class="who">
      <${Avatar} person=${{ name: user.name, address: user.email }} />
      <div class="who-names">
        <h2 id="who">${user.name || user.email}</h2>
        <p class="quiet-text">${user.email}</p>
      </div>
      <span class=${`badge ${user.role}`}>${user.role === "admin" ? "Admin" : "Member"}</span>
    </div>
    <p class="fine">${ROLES[user.role]}</p>
    <${SignOut} />
  </section>`;
}

/** @param {{ off: boolean }} props */
function Nobody({ off }) {
  return html`<div class="notice">
    <${Icon} name="person" />
    <div>${off
      ? html`<p><b>Signing in is switched off.</b> Everybody who reaches this server is its admin. It was started
        with <code>SVC_AUTH=off</code>.</p>`
      : html`<p><b>Nobody has claimed this workspace yet.</b> Everybody who reaches it on this machine has all of it.
        The first one who signs in
            becomes its admin and owns what is there.</p>
          <p><a class="button primary" href="/login?next=%2Fsettings">Sign in and claim it</a></p>`}</div>
  </div>`;
}

function SignOut() {
  const [problem, setProblem] = useState("");
  const leave = async () => setProblem(await signOut());
  return html`<div>
    <button class="button" onClick=${leave}>Sign out</button>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </div>`;
}
