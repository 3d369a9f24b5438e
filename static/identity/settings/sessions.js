// @ts-check
/** The browsers that I am signed in with, and how to sign them out. */
import { signOut } from "../sign_in.js";
import { now } from "../../now.js";
import { mutate } from "../../rpc.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { ago, fullTime, plural } from "../../ui/format.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { browserName } from "./browsers.js";
import { day } from "../../settings/dates.js";
import { Pending, useFetched } from "../../settings/fetched.js";

export function SessionsSection() {
  const sessions = useFetched("auth.sessions");
  const devices = useFetched("devices.list");
  const end = async (/** @type {SessionRow[]} */ rows) => {
    try {
      await Promise.all(rows.map(({ id }) => mutate("auth.revokeSession", { id })));
    } finally {
      await sessions.load();
    }
  };
  const names = new Map(devices.data?.map((one) => [one.id, browserName(one.name)]));
  const others = sessions.data?.filter((one) => !one.current) ?? [];
  return html`<section class="setting" aria-labelledby="sessions-title">
    <h2 id="sessions-title">Signed-in browsers</h2>
    <p class="fine">A session ends 30 days after its last use. A browser that is signed out here stops at once, open
      pages included.</p>
    <${Pending} of=${sessions} what="the sessions" />
    ${sessions.data?.length === 0 && html`<p class="quiet-text">None: this workspace is used without signing in.</p>`}
    <ul class="things">${sessions.data?.map(
      (one) => html`<${Row} key=${one.id} session=${one} name=${names.get(one.deviceId) ?? "A browser"}
        end=${() => end([one])} />`,
    )}</ul>
    ${others.length > 1 && html`<${ConfirmButton} label="Sign out all the others" sure="Sign out"
      question=${`${plural(others.length, "browser")} will have to sign in again.`} run=${() => end(others)} />`}
  </section>`;
}

/** @param {{ session: SessionRow, name: string, end: () => Promise<void> }} props */
function Row({ session, name, end }) {
  return html`<li class="thing">
    <span class="thing-icon"><${Icon} name="browser" /></span>
    <div class="thing-text">
      <p class="thing-title">${name} ${session.current && html`<span class="badge open">this browser</span>`}</p>
      <p class="fine">Signed in ${day(session.createdAt)} · <span title=${fullTime(session.lastSeenAt)}>
        ${session.current ? "in use now" : `last used ${lately(session.lastSeenAt, now.value)}`}</span></p>
    </div>
    ${session.current
      ? html`<${ConfirmButton} label="Sign out" what="this browser" run=${leave} />`
      : html`<${ConfirmButton} label="Sign out" what=${name} run=${end} />`}
  </li>`;
}

/**
 * The server writes down a use at most once an hour.
 * @param {string} iso
 * @param {number} nowMs
 */
function lately(iso, nowMs) {
  return nowMs - Date.parse(iso) < 3_600_000 ? "within the hour" : ago(iso, nowMs);
}

async function leave() {
  const refusal = await signOut();
  if (refusal) throw new Error(refusal);
}
