// @ts-check
/**
 * Mail accounts: the state of each, in words, and everything that a person can do with it. Live: what changed on the
 * server is fetched again, and while an account is busy, every few seconds.
 */
import { useEffect, useState } from "preact/hooks";
import { accounts, isShared } from "../accounts.js";
import { ConnectAgain, ConnectDialog, connectOpen } from "../connect.js";
import { standing } from "../sync.js";
import { now } from "../../now.js";
import { mutate } from "../../rpc.js";
import { isAdmin } from "../../session.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { duration, fullTime, number, plural } from "../../ui/format.js";
import { Nothing } from "../../ui/empty.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { toast } from "../../ui/toast.js";
import { Addresses } from "./accounts_addresses.js";
import { DamageList, FailureList, PendingList } from "./accounts_details.js";
import { DisconnectDialog } from "./accounts_disconnect.js";
import { SenderName } from "./accounts_name.js";
import { SharedCard, Sharing } from "./accounts_sharing.js";
import { until } from "../../settings/dates.js";
import { Pending, useFetched } from "../../settings/fetched.js";

/** @type {Record<string, { title: string, link?: { href: string, text: string } }>} */
const CAUSES = {
  revoked: { title: "Access was revoked" },
  "testing-expired": { title: "Access for testing has ended",
    link: { href: "https://console.cloud.google.com/auth/audience", text: "Publish the app" } },
  scope: { title: "Access to mail was not granted" },
  "api-off": { title: "The Gmail API is switched off",
    link: { href: "https://console.cloud.google.com/apis/library/gmail.googleapis.com", text: "Enable the Gmail API" }
      },
  clock: { title: "The clock of this server is wrong" },
};

export function AccountsSection() {
  const health = useFetched("mail.health");
  const known = accounts.value;
  const moving = health.data?.some((one) => one.state !== "caught-up" && one.state !== "disconnected");
  useEffect(() => void health.load(), [known, health.load, moving ? now.value : 0]);
  const cards = (known ?? []).flatMap((account) => {
    const stands = health.data?.find((one) => one.accountId === account.id);
    return stands ? [{ account, stands }] : [];
  });
  const card = (/** @type {{ account: Account, stands: Health }} */ { account, stands }) =>
    html`<${AccountCard} key=${account.id} account=${account} stands=${stands} changed=${health.load} />`;
  const apart = cards.filter((one) => one.stands.state === "disconnected");
  const none = health.data?.length === 0 && !known?.some(isShared);
  const connect = html`<button class="button" onClick=${() => { connectOpen.value = true; }}>
    <${Icon} name="plus" size=${16} /> Connect ${known?.length ? "another" : "an"} account</button>`;
  return html`
    <${Pending} of=${health} what="the accounts" />
    ${none && html`<section class="setting" aria-label="Mail accounts"><${Nothing} icon="unread"
      title="No account is connected"><p>Mail of any provider: by its password, or by the sign-in of Google or
      Microsoft.</p>${connect}</${Nothing}></section>`}
    ${cards.filter((one) => one.stands.state !== "disconnected").map(card)}
    ${apart.length > 0 && html`<h2 class="apart">Disconnected</h2>
      <p class="fine">Their mail stays readable here; nothing comes or goes.</p>${apart.map(card)}`}
    ${(known ?? []).filter(isShared).map((account) => html`<${SharedCard} key=${account.id} account=${account} />`)}
    ${!none && html`<div>${connect}</div>`}
    <${ConnectDialog} />`;
}

/** @param {{ account: Account, stands: Health, changed: () => Promise<void> }} props */
function AccountCard({ account, stands, changed }) {
  const [leaving, setLeaving] = useState(false);
  const { address } = account;
  const { tone, text } = standing({ ...account, state: stands.state, progress: null });
  const isConnected = stands.state !== "disconnected";
  const isKeptHere = account.signIn === null;
  const canSync = isConnected && !isKeptHere && stands.state !== "reconnect";
  const canDisconnect = isConnected && !isKeptHere;
  const tryNow = async () => {
    await mutate("mail.retryFailures", { accountId: account.id });
    await changed();
  };
  const resync = async () => {
    await mutate("mail.resync", { accountId: account.id });
    toast(`${address} is being read again.`);
    await changed();
  };
  return html`<section class="setting account" aria-labelledby=${`account-${account.id}`}>
    <h2 id=${`account-${account.id}`}><span class=${`sync-dot ${tone}`}></span> ${address}</h2>
    <p title=${stands.lastSyncedAt ? fullTime(stands.lastSyncedAt) : undefined}>${text}
      ${isKeptHere ? ` ${plural(stands.here, "mail")}.`
        : stands.provider === stands.here && ` ${plural(stands.here, "mail")}, all here.`}</p>
    <${Trouble} stands=${stands} account=${account} />
    <${FullSync} stands=${stands} address=${address} />
    <${Facts} stands=${stands} isKeptHere=${isKeptHere} />
    <${LeftOut} stands=${stands} />
    ${!isKeptHere && html`<${SenderName} key=${account.senderName ?? ""} account=${account} />`}
    <${Addresses} account=${account} />
    <${Sharing} account=${account} />
    <${PendingList} accountId=${account.id} count=${stands.pending} />
    <${FailureList} accountId=${account.id} count=${stands.failed} retry=${isConnected ? tryNow : null} />
    <${DamageList} accountId=${account.id} count=${stands.damaged} />
    <div class="account-foot">
      ${canSync && html`<${ConfirmButton} label=${stands.state === "waiting" ? "Try now" : "Sync now"}
        what=${address} run=${tryNow} />`}
      ${canSync && stands.state !== "backfilling"
        && html`<${ConfirmButton} label="Resync" what=${address} sure="Resync" calm
        question="Reads the whole mailbox again and corrects what differs. Drafts, snoozes and filing stay."
          run=${resync} />`}
      ${canSync && account.signIn === "password"
        && html`<${ConnectAgain} account=${account} label="Password and servers"
          name=${`Password and servers: ${address}`} />`}
      ${!isConnected && html`<${ConnectAgain} account=${account} label="Connect again"
        name=${`Connect again: ${address}`} />`}
      <button class="button small danger" aria-label=${`${canDisconnect ? "Disconnect" : "Erase"}: ${address}`}
        onClick=${() => setLeaving(true)}>${canDisconnect ? "Disconnect" : "Erase"}</button>
    </div>
    ${leaving && html`<${DisconnectDialog} account=${account} onlyErase=${!canDisconnect}
      close=${() => setLeaving(false)} changed=${changed} />`}
  </section>`;
}

/** The fault of an account, and how to fix it. @param {{ stands: Health, account: Account }} props */
function Trouble({ stands, account }) {
  if (!stands.problem) return null;
  const cause = CAUSES[stands.cause ?? ""];
  const link = isAdmin() ? cause?.link : undefined; // only an admin can change the setup at the provider
  return html`<div class="notice bad" role="status">
    <${Icon} name="warning" />
    <div>
      ${cause && html`<b>${cause.title}</b>`}
      <p>${stands.problem}</p>
      ${(stands.state === "reconnect" || link) && html`<p class="account-ways">
        ${stands.state === "reconnect" && html`<${ConnectAgain} account=${account} primary
          name=${`Reconnect: ${account.address}`} />`}
        ${link && html`<a class="button small" href=${link.href} target="_blank" rel="noopener noreferrer">${link.text}
          </a>`}
      </p>`}
    </div>
  </div>`;
}

/** The progress of a full sync. @param {{ stands: Health, address: string }} props */
function FullSync({ stands, address }) {
  const progress = stands.progress;
  if (!progress?.total) return null;
  const left = progress.etaSeconds === null ? "" : `, ${duration(progress.etaSeconds)} left`;
  return html`<div class="full-sync">
    <progress max=${progress.total} value=${Math.min(progress.done, progress.total)} aria-label=${`Reading ${address}`}>
      </progress>
    <p class="fine">${progress.listing ? "Listed " : ""}${number(progress.done)} of ${number(progress.total)} messages${
      left}</p>
  </div>`;
}

/** The folders of others at the server, which are not read. @param {{ stands: Health }} props */
function LeftOut({ stands: { leftOut, leftOutFirst } }) {
  if (leftOut === 0) return null;
  const more = leftOut - leftOutFirst.length;
  return html`<p class="fine">Only your own folders are read here. ${plural(leftOut, "folder")} of other people or of a
    group at this mail server ${leftOut === 1 ? "is" : "are"} not: ${leftOutFirst.map((name, index) => html`${
    index > 0 && ", "}“<bdi>${name}</bdi>”`)}${more > 0 && `, ${number(more)} more`}.</p>`;
}

/** @param {{ stands: Health, isKeptHere: boolean }} props */
function Facts({ stands, isKeptHere }) {
  const { quota, nextAttemptAt } = stands;
  return html`<dl class="facts">
    ${!isKeptHere && stands.provider !== stands.here && html`<div><dt>At the provider</dt>
      <dd>${stands.provider === null ? "not heard yet" : number(stands.provider)}</dd></div>
      <div><dt>Here</dt><dd>${number(stands.here)}</dd></div>`}
    ${nextAttemptAt && stands.state === "waiting"
      && html`<div><dt>Next attempt</dt><dd title=${fullTime(nextAttemptAt)}>${until(nextAttemptAt, now.value)}</dd>
        </div>`}
    ${quota && html`<div><dt>Quota, last minute</dt>
      <dd>${number(quota.usedLastMinute)} of ${number(quota.limitPerMinute)} units</dd></div>`}
    ${stands.damaged > 0 && html`<div><dt>Damaged</dt>
      <dd>${number(stands.damaged)}${stands.lost > 0 && `, ${number(stands.lost)} can't be mended`}</dd></div>`}
    ${stands.mended > 0 && html`<div><dt>Mended lately</dt><dd>${number(stands.mended)}</dd></div>`}
    ${stands.failed > 0 && html`<div><dt>Passed over</dt><dd>${plural(stands.failed, "message")}</dd></div>`}
  </dl>`;
}
