// @ts-check
/** Invites: create one (its link is shown once), see the state of the others, revoke those that are still open. */
import { useState } from "preact/hooks";
import { INPUTS } from "../../inputs.generated.js";
import { now } from "../../now.js";
import { mutate } from "../../rpc.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { CopyLine } from "../../ui/copy.js";
import { useAction } from "../../ui/action.js";
import { fullTime } from "../../ui/format.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { day, until } from "../../settings/dates.js";
import { Pending, useFetched } from "../../settings/fetched.js";

const DAYS = INPUTS["auth.createInvite"].expiresInDays;

/** @typedef {{ url: string, expiresAt: string, email: string }} Minted */

export function Invites() {
  const invites = useFetched("auth.invites");
  const [minted, setMinted] = useState(/** @type {Minted | null} */ (null));
  const keep = (/** @type {Minted} */ one) => {
    setMinted(one);
    void invites.load();
  };
  return html`<section class="setting" aria-labelledby="invites-title">
    <h2 id="invites-title">Invites</h2>
    <p class="fine">A person who opens an invite link and signs in becomes a member. A link works once.</p>
    <${InviteForm} done=${keep} />
    <div role="status">${minted && html`<${Link} minted=${minted} close=${() => setMinted(null)} />`}</div>
    <${Pending} of=${invites} what="the invites" />
    <ul class="things">
      ${invites.data?.map((one) => html`<${InviteRow} key=${one.id} invite=${one} changed=${invites.load} />`)}</ul>
  </section>`;
}

/** @param {{ done: (minted: Minted) => void }} props */
function InviteForm({ done }) {
  const [email, setEmail] = useState("");
  const [days, setDays] = useState(String(DAYS.default));
  const { busy, problem, run } = useAction();
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    void run(async () => {
      const address = email.trim();
      const made = await mutate("auth.createInvite",
        { expiresInDays: Number(days), ...(address ? { email: address } : {}) });
      done({ url: made.url, expiresAt: made.expiresAt, email: address });
      setEmail("");
    });
  };
  return html`<form class="invite-form" onSubmit=${submit}>
    <label class="field grow"><span>Only for this address <span class="quiet-text">(optional)</span></span>
      <input type="email" autocomplete="off" placeholder="anybody with the link" value=${email}
        onInput=${(/** @type {InputEvent} */ event) =>
          setEmail(/** @type {HTMLInputElement} */ (event.target).value)} /></label>
    <label class="field"><span>Good for days</span>
      <input type="number" required min=${DAYS.least} max=${DAYS.most} step="1" value=${days}
        onInput=${(/** @type {InputEvent} */ event) => setDays(/** @type {HTMLInputElement} */ (event.target).value)} />
        </label>
    <button class="button primary" type="submit" aria-busy=${busy}>Create invite link</button>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </form>`;
}

/** The link itself is not stored anywhere. @param {{ minted: Minted, close: () => void }} props */
function Link({ minted, close }) {
  return html`<div class="notice good">
    <${Icon} name="check" />
    <div>
      <p><b>The invite link, shown this once.</b> Send it to ${minted.email || "whom you invite"}; it is good
        until ${day(minted.expiresAt)}.</p>
      <${CopyLine} text=${minted.url} label="the invite link" />
    </div>
    <button class="icon-button" aria-label="Hide the invite link" onClick=${close}><${Icon} name="close" /></button>
  </div>`;
}

/** @param {{ invite: Invite, changed: () => Promise<void> }} props */
function InviteRow({ invite, changed }) {
  const { name, open, text } = stateOf(invite, now.value);
  const whose = invite.email ?? "Anybody with the link";
  const revoke = async () => {
    await mutate("auth.revokeInvite", { id: invite.id });
    await changed();
  };
  return html`<li class=${`thing${open ? "" : " past"}`}>
    <div class="thing-text">
      <p class="thing-title">${whose} <span class=${`badge ${name}`}>${name}</span></p>
      <p class="fine"><span title=${fullTime(invite.createdAt)}>Created ${day(invite.createdAt)}</span> · ${text}</p>
    </div>
    ${open && html`<${ConfirmButton} label="Revoke" what=${`the invite for ${whose}`} question="The link stops working."
      run=${revoke} />`}
  </li>`;
}

/**
 * @param {Invite} invite
 * @param {number} nowMs
 */
function stateOf(invite, nowMs) {
  if (invite.usedAt) return { name: "used", open: false, text: `used ${day(invite.usedAt)}${byWhom(invite)}` };
  if (invite.revokedAt) return { name: "revoked", open: false, text: `revoked ${day(invite.revokedAt)}` };
  if (Date.parse(invite.expiresAt) <= nowMs) return { name: "expired", open: false,
    text: `ended ${day(invite.expiresAt)}` };
  return { name: "open", open: true, text: `ends ${until(invite.expiresAt, nowMs)}` };
}

/** Who used an invite. The address is left out if the title shows it already. @param {Invite} invite */
function byWhom({ usedBy, email }) {
  if (!usedBy) return "";
  if (!usedBy.name) return ` by ${usedBy.email}`;
  return usedBy.email === email ? ` by ${usedBy.name}` : ` by ${usedBy.name} (${usedBy.email})`;
}
