// @ts-check
/** Paired devices: what they may do, when they were last here, and the end of it. An admin sees everybody's. */
import { now } from "../../now.js";
import { mutate } from "../../rpc.js";
import { isAdmin, me } from "../../session.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { ago, fullTime, plural } from "../../ui/format.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { toast } from "../../ui/toast.js";
import { browserName } from "./browsers.js";
import { CAPABILITIES } from "./capabilities.js";
import { Pending, useFetched } from "../../settings/fetched.js";
import { Pairing } from "./pairing.js";

const BROWSER = "web-session";

export function DevicesSection() {
  const devices = useFetched("devices.list");
  const users = useFetched("users.list", isAdmin());
  const owners = new Map(users.data?.map((one) => [one.id, one.name || one.email]));
  const mine = me.value?.user?.id ?? null;
  const all = devices.data ?? [];
  const paired = all.filter((one) => one.kind !== BROWSER);
  const present = paired.filter((one) => !one.revoked);
  const browsers = all.filter((one) => one.kind === BROWSER && !one.revoked && one.userId !== mine);
  const row = (/** @type {Device} */ one) => html`<${DeviceRow} key=${one.id} device=${one} changed=${devices.load}
    owner=${one.userId === mine ? "" : one.userId === null ? "nobody"
      : (owners.get(one.userId) ?? "somebody else")} />`;
  return html`<section class="setting" aria-labelledby="devices-title">
    <h2 id="devices-title">Paired devices</h2>
    <p class="fine">A phone, a command line or an extension works with this workspace by a token of its own, which it
      gets for a code.</p>
    <${Pairing} known=${devices.data} refresh=${devices.load} />
    <${Pending} of=${devices} what="the devices" />
    ${devices.data && !present.length && html`<p class="quiet-text">No device is paired.</p>`}
    <ul class="things">${present.map(row)}</ul>
    <${Folded} title=${plural(paired.length - present.length, "revoked device")}
      rows=${paired.filter((one) => one.revoked).map(row)} />
    <${Folded} title=${plural(browsers.length, "browser of other users", "browsers of other users")}
      rows=${browsers.map(row)} />
  </section>`;
}

/** @param {{ title: string, rows: unknown[] }} props */
function Folded({ title, rows }) {
  return rows.length > 0 && html`<details class="folded">
    <summary><${Icon} name="chevron" size=${14} /> ${title}</summary>
    <ul class="things">${rows}</ul>
  </details>`;
}

/** @param {{ device: Device, owner: string, changed: () => Promise<void> }} props */
function DeviceRow({ device, owner, changed }) {
  const isBrowser = device.kind === BROWSER;
  const name = isBrowser ? browserName(device.name) : device.name || "Unnamed device";
  const may = CAPABILITIES.filter((one) => device.capabilities[one.flag]).map((one) => one.short);
  const revoke = async () => {
    await mutate("devices.revoke", { id: device.id });
    toast(`${name} has no access any more.`);
    await changed();
  };
  return html`<li class=${`thing${device.revoked ? " past" : ""}`}>
    <span class="thing-icon"><${Icon} name=${isBrowser ? "browser" : device.capabilities.terminal ? "terminal"
      : "device"} /></span>
    <div class="thing-text">
      <p class="thing-title">${name} ${!isBrowser && html`<span class="badge">${device.kind}</span>`} ${device.revoked
        && html`<span class="badge revoked">revoked</span>`}</p>
      <p class="fine">${owner && `Of ${owner} · `}<${Seen} at=${device.lastSeenAt} />
        ${may.length > 0 && ` · may ${may.join(", ")}`}</p>
    </div>
    ${!device.revoked && html`<${ConfirmButton} label=${isBrowser ? "Sign out" : "Revoke"} what=${name} sure="Revoke"
      question="It loses access at once." run=${revoke} />`}
  </li>`;
}

/** @param {{ at: string | null }} props */
function Seen({ at }) {
  return at ? html`<span title=${fullTime(at)}>Last seen ${ago(at, now.value)}</span>` : html`<span>Never seen</span>`;
}
