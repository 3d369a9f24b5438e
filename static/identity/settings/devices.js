// @ts-check
/**
 * The list of browsers and devices that are signed in as this user: name, when and from where each was last seen, what
 * it may do, and a button to sign it out. An admin also sees those of other users, in a separate list.
 */
import { now } from "../../now.js";
import { mutate } from "../../rpc.js";
import { isAdmin, me } from "../../session.js";
import { day } from "../../settings/dates.js";
import { Pending, useFetched } from "../../settings/fetched.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { ago, fullTime, plural } from "../../ui/format.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { toast } from "../../ui/toast.js";
import { signOut } from "../sign_in.js";
import { browserName } from "./browsers.js";
import { CAPABILITIES } from "./capabilities.js";
import { Pairing } from "./pairing.js";

const BROWSER = "web-session";
/** The server stores the last use at most once an hour. */
const NOTED_EVERY_MS = 3_600_000;

/** @typedef {{ device: Device, session: SessionRow | null }} Seen `session`: only for the user's own browsers */

export function DevicesSection() {
  const sessions = useFetched("auth.sessions");
  const devices = useFetched("devices.list");
  const users = useFetched("users.list", isAdmin());
  const reload = async () => {
    await Promise.all([sessions.load(), devices.load()]);
  };
  const { here, others, revoked } = sorted(devices.data ?? [], sessions.data ?? []);
  const browsers = here.flatMap(({ session }) => (session && !session.current ? [session] : []));
  const owners = new Map(users.data?.map((one) => [one.id, one.name || one.email]));
  const row = (/** @type {Seen} */ one) => html`<${Row} key=${one.device.id} seen=${one} changed=${reload}
    owner=${ownerOf(one.device, owners)} />`;
  return html`<section class="setting" aria-labelledby="devices-title">
    <h2 id="devices-title">Signed in as you</h2>
    <p class="fine">A browser stays signed in for 30 days after its last use. A phone, a command line or an extension
      has a token of its own, which it gets for a code. What is signed out here stops at once, open pages included.</p>
    <${Pending} of=${sessions} what="the sessions" />
    <${Pending} of=${devices} what="the devices" />
    ${sessions.data && devices.data && !here.length
      && html`<p class="quiet-text">None: this workspace is used without signing in.</p>`}
    <ul class="things">${sessions.data && here.map(row)}</ul>
    <div class="devices-steps">
      <${Pairing} known=${devices.data} refresh=${devices.load} />
      ${browsers.length > 0 && html`<${ConfirmButton} label="Sign out all other browsers" sure="Sign out"
        question=${`${plural(browsers.length, "browser")} will have to sign in again.`}
        run=${() => Promise.all(browsers.map(({ id }) => mutate("auth.revokeSession", { id }))).finally(reload)} />`}
    </div>
    <${Folded} title=${plural(revoked.length, "revoked device")} rows=${revoked.map(row)} />
    <${Folded} title=${`${plural(others.length, "browser or device", "browsers and devices")} of other users`}
      rows=${others.map(row)} />
  </section>`;
}

/**
 * This browser first, then by the time each was last seen. Browsers that are signed out are left out.
 * @param {readonly Device[]} devices @param {readonly SessionRow[]} sessions
 */
function sorted(devices, sessions) {
  const opened = new Map(sessions.map((one) => [one.deviceId, one]));
  const mine = me.value?.user?.id ?? null;
  const all = devices.map((device) => ({ device, session: opened.get(device.id) ?? null }));
  const isMine = (/** @type {Seen} */ { device }) => device.userId === mine || device.userId === null;
  const present = all.filter(({ device, session }) => !device.revoked && (session || device.kind !== BROWSER
    || device.userId !== mine)).sort((a, b) => order(b) - order(a));
  return { here: present.filter(isMine), others: present.filter((one) => !isMine(one)),
    revoked: all.filter(({ device }) => device.revoked && device.kind !== BROWSER) };
}

/** @param {Seen} seen */
function order({ device, session }) {
  return session?.current ? Infinity : Date.parse(session?.lastSeenAt ?? device.lastSeenAt ?? "") || 0;
}

/** @param {Device} device @param {Map<string, string>} owners */
function ownerOf({ userId }, owners) {
  if (userId === null) return "nobody";
  return userId === me.value?.user?.id ? "" : owners.get(userId) ?? "somebody else";
}

/** @param {{ title: string, rows: unknown[] }} props */
function Folded({ title, rows }) {
  return rows.length > 0 && html`<details class="folded">
    <summary><${Icon} name="chevron" size=${14} /> ${title}</summary>
    <ul class="things">${rows}</ul>
  </details>`;
}

/** @param {{ seen: Seen, owner: string, changed: () => Promise<void> }} props */
function Row({ seen: { device, session }, owner, changed }) {
  const isBrowser = device.kind === BROWSER;
  const name = isBrowser ? browserName(device.name) : device.name || "Unnamed device";
  const may = CAPABILITIES.filter((one) => device.capabilities[one.flag]).map((one) => one.short);
  return html`<li class=${`thing${device.revoked ? " past" : ""}`}>
    <span class="thing-icon"><${Icon} name=${isBrowser ? "browser" : device.capabilities.terminal ? "terminal"
      : "device"} /></span>
    <div class="thing-text">
      <p class="thing-title">${name} ${!isBrowser && html`<span class="badge">${device.kind}</span>`} ${session?.current
        && html`<span class="badge open">this browser</span>`} ${device.revoked
        && html`<span class="badge revoked">revoked</span>`}</p>
      <p class="fine">${owner && `Of ${owner} · `}<${LastSeen} device=${device} session=${session} />${device.seenFrom
        && ` from ${device.seenFrom}`}${session && ` · signed in ${day(session.createdAt)}`}${may.length > 0
        && ` · may ${may.join(", ")}`}</p>
    </div>
    ${!device.revoked && html`<${EndButton} device=${device} session=${session} name=${name} changed=${changed} />`}
  </li>`;
}

/** @param {{ device: Device, session: SessionRow | null, name: string, changed: () => Promise<void> }} props */
function EndButton({ device, session, name, changed }) {
  if (session?.current) return html`<${ConfirmButton} label="Sign out" what="this browser" run=${leave} />`;
  if (session) {
    const end = () => mutate("auth.revokeSession", { id: session.id }).then(changed);
    return html`<${ConfirmButton} label="Sign out" what=${name} run=${end} />`;
  }
  const revoke = async () => {
    await mutate("devices.revoke", { id: device.id });
    toast(`${name} has no access any more.`);
    await changed();
  };
  return html`<${ConfirmButton} label=${device.kind === BROWSER ? "Sign out" : "Revoke"} what=${name} sure="Revoke"
    question="It loses access at once." run=${revoke} />`;
}

/** @param {{ device: Device, session: SessionRow | null }} props */
function LastSeen({ device, session }) {
  const at = session?.lastSeenAt ?? device.lastSeenAt;
  if (session?.current) return html`<span>In use now</span>`;
  if (!at) return html`<span>Never seen</span>`;
  const lately = now.value - Date.parse(at) < NOTED_EVERY_MS;
  return html`<span title=${fullTime(at)}>Last seen ${lately ? "within the hour" : ago(at, now.value)}</span>`;
}

async function leave() {
  const refusal = await signOut();
  if (refusal) throw new Error(refusal);
}
