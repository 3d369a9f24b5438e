// @ts-check
/**
 * The state of the accounts' sync: a word in the header, the details in a panel, and a strip for faults that need a
 * person.
 */
import { liveState } from "../live.js";
import { now } from "../now.js";
import { ago, duration, number, plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { accountOf, accounts, secondsLeft } from "./accounts.js";
import { checkMail, checking } from "./checking.js";
import { ConnectAgain } from "./connect.js";

/** The button in the header, and the panel it opens. */
export function SyncStatus() {
  const known = accounts.value;
  if (!known?.length) return null;
  const { tone, text } = overall(known);
  return html`<div class="sync">
    <button class="sync-button" popovertarget="sync-panel" aria-haspopup="dialog">
      <span class=${`sync-dot ${tone}`}></span><span class="sync-text">${text}</span>
      <span class="sr-only">, show each account</span>
    </button>
    <div id="sync-panel" class="sync-panel" popover="auto" role="dialog" aria-label="Sync state">
      <h2>Sync</h2>
      <ul>
        ${known.map((account) => html`<li key=${account.id}><${AccountState} account=${account} /></li>`)}
      </ul>
      <p class="sync-foot"><a href="/settings/accounts">More about each account</a>
        <button class="button small" aria-busy=${checking.value ? "true" : "false"}
          onClick=${() => void checkMail(null)}>Check now</button></p>
    </div>
  </div>`;
}

/**
 * The strips above the list: what the person should know or do about the accounts of this tab.
 * @param {{ accountId: string | null }} props
 */
export function SyncStrips({ accountId }) {
  const shown = accountId === null ? (accounts.value ?? []) : [accountOf(accountId)].filter((one) => one !== null);
  return html`<div class="strips" aria-live="polite">
    ${shown.filter(needsPerson).map(
      (account) => html`<div key=${account.id} class="strip warning">
        <${Icon} name="warning" size=${18} />
        <span><b>${account.address}</b> ${account.state === "reconnect" ? "needs to be connected again."
          : "is disconnected."} ${account.problem}</span>
        <${ConnectAgain} account=${account} />
      </div>`,
    )}
    <${Reading} known=${shown.filter((one) => one.state === "backfilling")} />
  </div>`;
}

/** One strip for all, or twelve would leave no room for the list. @param {{ known: Account[] }} props */
function Reading({ known: [first, ...others] }) {
  if (!first) return null;
  const all = [first, ...others];
  const sum = progressOf(all.filter((one) => !one.progress?.listing));
  return html`<div class="strip reading">
    ${others.length ? html`<${Bar} of=${sum} label="Reading the mail of these accounts" />
      <span><b>${all.length} accounts</b> are being read, newest first${progressWords(sum)}.</span>`
    : html`<${Progress} account=${first} /><span><b>${first.address}</b> ${backfillText(first)}</span>`}
  </div>`;
}

/** @param {{ account: Account }} props */
function AccountState({ account }) {
  const { tone, text } = standing(account);
  return html`<div class="sync-account">
    <div class="sync-line"><span class=${`sync-dot ${tone}`}></span><b>${account.address}</b></div>
    <p>${text}</p>
    ${account.state === "backfilling" && html`<${Progress} account=${account} />`}
    ${account.problem && html`<p class="sync-problem">${account.problem}</p>`}
    ${Boolean(account.pending) && html`<p>${plural(account.pending ?? 0, "change")} on the way to the provider.</p>`}
    ${Boolean(account.failed)
      && html`<p>${plural(account.failed ?? 0, "message")} could not be read and ${account.failed === 1 ? "was"
      : "were"} passed over.</p>`}
    ${needsPerson(account) && html`<${ConnectAgain} account=${account} />`}
  </div>`;
}

/** @param {{ account: Account }} props */
function Progress({ account }) {
  return html`<${Bar} of=${account.progress ?? { done: 0, total: 0 }} label=${`Reading ${account.address}`} />`;
}

/** @param {{ of: { done: number, total: number }, label: string }} props */
function Bar({ of: { done, total }, label }) {
  if (!total) return html`<progress aria-label=${label}></progress>`;
  return html`<progress max=${total} value=${Math.min(done, total)} aria-label=${label}></progress>`;
}

/** The sum of their progress. @param {Account[]} accounts */
function progressOf(accounts) {
  return {
    done: accounts.reduce((sum, one) => sum + (one.progress?.done ?? 0), 0),
    total: accounts.reduce((sum, one) => sum + (one.progress?.total ?? 0), 0),
  };
}

/** @param {{ done: number, total: number }} progress */
function progressWords({ done, total }) {
  return total ? `: ${number(done)} of ${number(total)} messages` : "";
}

/** @param {Account[]} known */
function overall(known) {
  if (liveState.value === "lost") return { tone: "waiting", text: "Not connected to the server" };
  const person = known.filter(needsPerson);
  if (person.length) {
    return { tone: "bad", text: person.length === 1 ? "1 account needs you" : `${person.length} accounts need you` };
  }
  const reading = known.filter((one) => one.state === "backfilling");
  if (reading.length) {
    const counted = reading.filter((one) => !one.progress?.listing);
    const shown = counted.length ? counted : reading;
    const { done, total } = progressOf(shown);
    const what = counted.length ? "Reading mail" : "Listing mail";
    return { tone: "busy", text: total ? `${what}, ${Math.floor((100 * done) / total)} %` : what };
  }
  const waiting = known.filter((one) => one.state === "waiting");
  if (waiting.length) return { tone: "waiting", text: "Waiting for the provider" };
  const times = known.flatMap((one) => (one.lastSyncedAt ? [one.lastSyncedAt] : [])).sort();
  return { tone: "good", text: times[0] ? `Synced ${ago(times[0], now.value)}` : "Synced" };
}

/** The state of an account, as a colour and a sentence. @param {Account} account */
export function standing(account) {
  const { tone, text } = stateOf(account);
  if (liveState.value !== "lost") return { tone, text };
  return { tone: tone === "bad" ? "bad" : "waiting",
    text: `Not connected to the server. When it was last heard: ${text}` };
}

/** @param {Account} account */
function stateOf(account) {
  if (account.signIn === null && account.state === "caught-up") {
    return { tone: "good", text: "Kept on this server alone." };
  }
  const last = account.lastSyncedAt ? `Last synced ${ago(account.lastSyncedAt, now.value)}.` : "";
  switch (account.state) {
    case "backfilling":
      return { tone: "busy", text: capital(backfillText(account)) };
    case "caught-up":
      return { tone: "good", text: `Up to date. ${last}` };
    case "waiting":
      return { tone: "waiting", text: `Waiting for the provider; tries again by itself. ${last}` };
    case "reconnect":
      return { tone: "bad", text: `Needs to be connected again. ${last}` };
    default:
      return { tone: "bad", text: `Disconnected. ${last}` };
  }
}

/** @param {Account} account */
function backfillText(account) {
  if (!account.progress?.total) return "is being read, newest first.";
  const { done, total, listing } = account.progress;
  if (listing) return `is being listed: ${number(done)} of ${number(total)} messages. The newest are here already.`;
  const left = secondsLeft(account);
  const rest = left === null ? "" : `, ${duration(left)} left`;
  return `is being read, newest first${progressWords(account.progress)}${rest}.`;
}

/** @param {Account} account */
function needsPerson(account) {
  return account.state === "reconnect" || account.state === "disconnected";
}

/** @param {string} text */
function capital(text) {
  return text.replace(/^is being/, "Being");
}
