// @ts-check
/** The mail page: tabs, list and thread, joined to addresses, keys and live events. */
import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { mailPath, navigate, place } from "../router.js";
import { html } from "../ui/html.js";
import { split } from "../ui/media.js";
import { toast } from "../ui/toast.js";
import { accountChanged, accountOf, accounts, accountsProblem, loadAccounts, unifiedUnread } from "./accounts.js";
import { archiveWithUndo, markOpened, markUnread, unarchive } from "./actions.js";
import { ComposeBar, composeKeys } from "./compose/compose.js";
import { ConnectDialog, ConnectPage } from "./connect.js";
import { close, opened, prefetch, refetchDetails, show, threadGone, threadMoved } from "./details.js";
import { ThreadLists } from "./list.js";
import { applyThread, forgetThread, knownThread, refetchLists } from "./lists.js";
import { heirOf, neighbour, select, selectedId, selectedThread } from "./selection.js";
import { SyncStrips } from "./sync.js";
import { ThreadPane } from "./thread.js";

const PREFETCH_AFTER_MS = 200;

/** @param {{ accountId: string | null, threadId: string | null }} props */
export function MailPage({ accountId, threadId }) {
  useEffect(() => registerKeys("Mail", SHORTCUTS), []);
  useEffect(showConnectRefusal, []);
  useEffect(() => {
    if (threadId === null) close();
    else void openThread(threadId);
  }, [threadId]);
  useEffect(prefetchSelected, []);
  useEffect(() => {
    document.title = titleOf(accountId, threadId);
  });
  if (accounts.value === null) return html`<${Waiting} />`;
  if (!accounts.value.length) return html`<main class="panel"><${ConnectPage} /></main>`;
  if (accountId !== null && !accountOf(accountId)) return html`<main class="panel"><${NoSuchAccount} /></main>`;
  const open = threadId !== null;
  const name = accountOf(accountId)?.address ?? "Unified";
  return html`<main class="panel">
    <div class=${`panes${open ? " open" : ""}`} id="mail-panel" role="tabpanel" aria-label=${name}>
      <div class="list-pane" inert=${open && !split.value}>
        ${!open && html`<h1 class="sr-only">${name}</h1>`}
        <${ComposeBar} accountId=${accountId} />
        <${SyncStrips} accountId=${accountId} />
        <${ThreadLists} accountId=${accountId} open=${openRow} />
      </div>
      ${open && html`<div class="thread-pane"><${ThreadPane} id=${threadId} commands=${COMMANDS} /></div>`}
    </div>
    <${ConnectDialog} />
  </main>`;
}

/** What the live updates mean here. @param {LiveEvent} event */
export function onMailEvent(event) {
  const payload = /** @type {{ thread?: Thread, account?: Account }} */ (event.payload ?? {});
  if (event.kind === "thread.changed" && payload.thread) {
    applyThread(payload.thread);
    threadMoved(payload.thread);
  } else if (event.kind === "thread.removed") {
    forgetThread(event.id);
    threadGone(event.id);
  } else if (event.kind === "account.changed" && payload.account) {
    accountChanged(payload.account);
  }
}

/** There is a gap in the live updates. */
export function refetchMail() {
  void loadAccounts();
  refetchLists();
  refetchDetails();
}

function Waiting() {
  return html`<main class="panel">
    ${accountsProblem.value
      ? html`<div class="failed" role="alert">
          <span>Could not load your mail: ${accountsProblem.value}</span>
          <button class="button small" onClick=${() => void loadAccounts()}>Try again</button>
        </div>`
      : html`<p class="sr-only" role="status">Loading</p>`}
  </main>`;
}

function NoSuchAccount() {
  return html`<div class="empty">
    <p class="empty-title">This account is not connected here</p>
    <p><a class="button" href=${mailPath(null)}>Go to the unified inbox</a></p>
  </div>`;
}

function currentAccountId() {
  return place.value.page === "mail" ? place.value.accountId : null;
}

function openId() {
  return place.value.page === "mail" ? place.value.threadId : null;
}

/** An open thread that no list holds: it lies further down than was fetched. @param {string} id */
function openedThread(id) {
  return opened.value?.id === id ? opened.value.detail?.thread : undefined;
}

/** @param {string} id */
async function openThread(id) {
  if (selectedId.value !== id) select(id);
  const detail = await show(id);
  if (detail) void markOpened(knownThread(id) ?? detail.thread);
}

/** @param {Thread} thread */
function openRow(thread) {
  select(thread.id);
  navigate(mailPath(currentAccountId(), thread.id), { replace: openId() !== null });
}

function back() {
  navigate(mailPath(currentAccountId()));
  select(selectedId.value, { focus: true });
}

/** @param {1 | -1} step */
function move(step) {
  const next = neighbour(openId() ?? selectedId.value, step);
  if (!next) return;
  if (openId() === null) select(next.id, { focus: true });
  else openRow(next);
}

/** Archive, and go on with the next one. @param {Thread} thread */
function archiveAndGoOn(thread) {
  const heir = heirOf(thread.id);
  const wasOpen = openId() !== null;
  archiveWithUndo(thread, () => select(openId() ?? thread.id, { focus: true }));
  if (!wasOpen) select(heir?.id ?? null, { focus: heir !== null });
  else if (heir) openRow(heir);
  else back();
}

function archiveCurrent() {
  const id = openId();
  const thread = id === null ? selectedThread() : (knownThread(id) ?? openedThread(id));
  if (thread?.inInbox) archiveAndGoOn(thread);
}

function openSelected() {
  const thread = selectedThread();
  if (thread) openRow(thread);
}

/** @type {import("./thread.js").ThreadCommands} */
const COMMANDS = {
  back,
  move,
  archive: archiveAndGoOn,
  unarchive: (thread) => void unarchive(thread),
  markUnread: (thread) => {
    void markUnread(thread);
    back();
  },
};

/** @type {import("../keys.js").Shortcut[]} */
const SHORTCUTS = [
  { keys: ["j"], label: "Select the next thread", run: () => move(1), repeats: true },
  { keys: ["k"], label: "Select the previous thread", run: () => move(-1), repeats: true },
  { keys: ["Enter"], label: "Open the selected thread", run: openSelected, when: () => openId() === null },
  { keys: ["u", "Escape"], label: "Back to the list", run: back, when: () => openId() !== null },
  { keys: ["e"], label: "Archive the selected or open thread", run: archiveCurrent },
  ...composeKeys(() => openId() ?? selectedThread()?.id ?? null, currentAccountId),
];

/** Have the selected thread ready once the selection rests. */
function prefetchSelected() {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  const stop = effect(() => {
    const id = selectedId.value;
    clearTimeout(timer);
    if (id !== null) timer = setTimeout(() => prefetch(id), PREFETCH_AFTER_MS);
  });
  return () => {
    clearTimeout(timer);
    stop();
  };
}

/** The OAuth callback comes back with the reason when nothing was connected. */
function showConnectRefusal() {
  const reason = new URLSearchParams(location.search).get("connect");
  if (!reason) return;
  history.replaceState(null, "", location.pathname);
  toast(reason.slice(0, 300), { tone: "error", stays: true });
}

/**
 * @param {string | null} accountId
 * @param {string | null} threadId
 */
function titleOf(accountId, threadId) {
  const unread = accountId === null ? unifiedUnread.value : (accountOf(accountId)?.unread ?? 0);
  const name = threadId !== null ? knownThread(threadId)?.subject : (accountOf(accountId)?.address ?? "Inbox");
  return `${unread ? `(${unread}) ` : ""}${name || "Mail"} – svc`;
}
