// @ts-check
/** The mail page: tabs, list and thread, connected to addresses, keys and live events. */
import { effect, untracked } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { late } from "../late.js";
import { comebacks } from "../live.js";
import { navigate } from "../router.js";
import { mailPath } from "./address.js";
import { isAtNothing, keepFocus } from "../ui/focus.js";
import { html } from "../ui/html.js";
import { split } from "../ui/media.js";
import { toast } from "../ui/toast.js";
import { accountChanged, accountOf, accountRemoved, accounts, accountsProblem, loadAccounts, unifiedUnread
  } from "./accounts.js";
import { markOpened } from "./actions.js";
import { AlsoFound } from "./also_found.js";
import { BlockDialog } from "./blocking.js";
import { BulkBar } from "./bulk.js";
import { COMMANDS, SHORTCUTS, TRIAGE_SHORTCUTS } from "./commands.js";
import { ComposeBar } from "./compose/compose.js";
import { loadDrafts } from "./compose/drafts.js";
import { ConnectDialog } from "./connect.js";
import { close, opened, prefetch, refetchDetails, show, refetchDetail, threadMoved, tryDetailAgain
  } from "./details.js";
import { DRAFT_SHORTCUTS, DraftsList } from "./drafts_list.js";
import { loadActing, stepChanged } from "./everything.js";
import { ActingStrips, PickStrip } from "./everything_strips.js";
import { SKELETON_ROWS, Skeleton } from "./empty.js";
import { leaveList } from "./everything.js";
import { Filters } from "./filters.js";
import { ThreadLists } from "./list.js";
import { applyThread, forgetThread, knownThread, refetchLists, tryListsAgain } from "./lists.js";
import { openId, openRow } from "./moving.js";
import { Pickers } from "./pickers.js";
import { refusalFor } from "./consent_refusals.js";
import { loadLabels, meetLabels } from "./labels.js";
import { returned } from "./returned.js";
import { RowMenu } from "./row_menu.js";
import { SearchNotices } from "./search.js";
import { SearchChips } from "./search_chips.js";
import { select, selectedId } from "./selection.js";
import { refetchSnippets } from "./snippets/store.js";
import { SyncStrips } from "./sync.js";
import { KIND_WORDS, triageOn } from "./kinds.js";
import { ThreadPane } from "./thread.js";
import { Viewer } from "../files/viewer.js";

const Welcome = late(() => import("./welcome.js"), "Welcome");
const PREFETCH_AFTER_MS = 200;

/** @param {{ accountId: string | null, threadId: string | null, view: import("./address.js").View }} props */
export function MailPage({ accountId, threadId, view }) {
  const list = mailPath(accountId, null, view);
  useLayoutEffect(() => registerKeys("Mail", SHORTCUTS), []);
  const sorted = triageOn.value === true;
  useLayoutEffect(() => (sorted ? registerKeys("Triage", TRIAGE_SHORTCUTS) : undefined), [sorted]);
  const ofDrafts = view.kind === "drafts";
  useLayoutEffect(() => (ofDrafts ? registerKeys("Drafts", DRAFT_SHORTCUTS) : undefined), [ofDrafts]);
  useEffect(showConnectRefusal, []);
  const before = useRef(threadId);
  useEffect(() => {
    if (threadId !== null) void openThread(threadId);
    else {
      close();
      const isLost = isAtNothing(); // the browser's Back leaves it nowhere
      if (before.current !== null && isLost) select(selectedId.value, { focus: true });
    }
    before.current = threadId;
  }, [threadId]);
  const became = opened.value?.id === threadId ? opened.value?.detail?.thread.id : undefined;
  useEffect(() => {
    if (became !== undefined && became !== threadId) navigate(mailPath(accountId, became, view), { replace: true });
  }, [became]); // the thread was merged into another
  useEffect(prefetchSelected, []);
  useEffect(() => leaveList, [list]);
  const listBefore = useRef(list);
  useEffect(() => {
    if (list !== listBefore.current && threadId === null) keepFocus({ told: true });
    listBefore.current = list;
  }, [list]);
  useEffect(() => {
    document.title = titleOf(accountId, threadId, view);
  });
  if (accounts.value === null) return html`<${Waiting} list=${threadId === null} />`;
  if (!accounts.value.length) return html`<main class="panel"><${Welcome} /></main>`;
  if (accountId !== null && !accountOf(accountId)) return html`<main class="panel"><${NoSuchAccount} /></main>`;
  const open = threadId !== null;
  const name = accountOf(accountId)?.address ?? "Unified";
  const listed = listedIn(view);
  return html`<main class="panel">
    <div class=${`panes${open ? " open" : ""}`} id="mail-panel" role="tabpanel" aria-label=${name}>
      <div class="list-pane" inert=${open && !split.value}>
        ${!open && html`<h1 class="sr-only">${listed ? `${listed}, ${name}` : name}</h1>`}
        <div class="list-top">
          <${ComposeBar} accountId=${accountId} drafts=${view.kind !== "drafts"} />
          ${view.kind === "search" && !view.only
            ? html`<${SearchChips} accountId=${accountId} query=${view.query} />`
            : view.kind !== "drafts" && html`<${Filters} only=${view.only ?? null}
              kinds=${view.kind === "sections" || view.kind === "triage"} />`}
          <${BulkBar} />
        </div>
        <${PickStrip} />
        <${ActingStrips} />
        <${SyncStrips} accountId=${accountId} />
        <${SearchNotices} accountId=${accountId} view=${view} />
        ${view.kind === "drafts" ? html`<${DraftsList} accountId=${accountId} />`
          : html`<${ThreadLists} accountId=${accountId} view=${view} beside=${open && split.value} open=${openRow} />`}
        ${view.kind === "search" && html`<${AlsoFound} accountId=${accountId} view=${view} />`}
      </div>
      ${open && html`<div class="thread-pane"><${ThreadPane} id=${threadId} commands=${COMMANDS} /></div>`}
    </div>
    <${ConnectDialog} />
    <${Pickers} />
    <${BlockDialog} />
    <${RowMenu} />
    <${Viewer} />
  </main>`;
}

/** Fetches the lists again when this person has another account: it may have mail that no live event tells of. */
export function followAccounts() {
  let known = accounts.value;
  effect(() => {
    const before = known;
    known = accounts.value;
    const isNew = before && known?.some(({ id }) => !before.some((one) => one.id === id));
    if (isNew) untracked(refetchLists);
  });
}

/** Handles a live event. @param {LiveEvent} event */
export function onMailEvent(event) {
  const payload = /** @type {{ thread?: Thread, account?: Account, step?: BulkStep }} */ (event.payload ?? {});
  if (event.kind === "thread.changed" && payload.thread) {
    changed(payload.thread);
  } else if (event.kind === "thread.removed") {
    forgetThread(event.id);
    refetchDetail(event.id);
  } else if (event.kind === "thread.details") {
    refetchDetail(event.id);
  } else if (event.kind === "snippets.changed") {
    refetchSnippets();
  } else if (event.kind === "bulk.changed" && payload.step) {
    stepChanged(payload.step);
  } else if (event.kind === "account.changed" && payload.account) {
    accountChanged(payload.account);
  } else if (event.kind === "account.removed") {
    withdrawn(event.id);
  }
}

/**
 * The account is deleted, or not shared with this person any more: everything that was in it is removed from the page.
 * @param {string} accountId
 */
function withdrawn(accountId) {
  accountRemoved(accountId);
  refetchLists();
  refetchDetails();
  void loadLabels();
  void loadDrafts();
}

/** @param {Thread} thread */
function changed(thread) {
  meetLabels(thread);
  const before = returned.value.has(thread.id);
  applyThread(thread);
  threadMoved(thread);
  if (before || !returned.value.has(thread.id)) return;
  toast(`Back from snooze: ${thread.subject || "(no subject)"}`, { action: { label: "Open", run: () => openRow(thread) }
    });
}

/** Fetches everything again, after a gap in the live updates. */
export function refetchMail() {
  void loadActing();
  void loadAccounts();
  refetchLists();
  refetchDetails();
  refetchSnippets();
}

/** Fetches what could not be fetched without a connection, once there is one again. */
export function followConnection() {
  effect(() => {
    if (comebacks.value) untracked(tryMailAgain);
  });
}

function tryMailAgain() {
  if (accountsProblem.value) void loadAccounts();
  tryListsAgain();
  tryDetailAgain();
}

/** @param {{ list: boolean }} props `list`: the list fills the page */
function Waiting({ list }) {
  return html`<main class="panel">
    ${accountsProblem.value
      ? html`<div class="failed" role="alert">
          <span>Could not load your mail: ${accountsProblem.value}</span>
          <button class="button small" onClick=${() => void loadAccounts()}>Try again</button>
        </div>`
      : html`<p class="sr-only" role="status">Loading</p>
        ${list && html`<div class="panes"><div class="list-pane"><div class="list-top"></div>
          <${Skeleton} rows=${SKELETON_ROWS} /></div></div>`}`}
  </main>`;
}

function NoSuchAccount() {
  return html`<div class="empty">
    <p class="empty-title">This account is not connected here</p>
    <p><a class="button" href=${mailPath(null)}>Go to the unified inbox</a></p>
  </div>`;
}

/** @param {string} id */
async function openThread(id) {
  if (openId() !== id) return; // a key came before the paint: the person has left it already
  if (selectedId.value !== id) select(id);
  const detail = await show(id);
  if (detail) void markOpened(knownThread(id) ?? detail.thread);
}

/** Prefetches the selected thread once the selection stays. */
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

/** Shows the reason from the OAuth callback if nothing was connected. */
function showConnectRefusal() {
  const reason = new URLSearchParams(location.search).get("connect");
  if (!reason) return;
  history.replaceState(null, "", location.pathname);
  toast(refusalFor(reason), { tone: "error", stays: true });
}

/**
 * @param {string | null} accountId
 * @param {string | null} threadId
 * @param {import("./address.js").View} view
 */
function titleOf(accountId, threadId, view) {
  const unread = accountId === null ? unifiedUnread.value : (accountOf(accountId)?.unread ?? 0);
  const open = opened.value?.id === threadId ? opened.value?.detail?.thread : null;
  const name = threadId !== null ? (knownThread(threadId) ?? open)?.subject : listedIn(view)
    || (accountOf(accountId)?.address ?? "Inbox");
  return `${unread ? `(${unread}) ` : ""}${name || "Mail"} – svc`;
}

/** What the list has, in words; "" for the inbox. @param {import("./address.js").View} view */
function listedIn(view) {
  return view.kind === "label" ? view.name : view.kind === "search" ? `Search ${view.query}`
    : view.kind === "all" ? "All mail" : view.kind === "snoozed" ? "Snoozed" : view.kind === "drafts" ? "Drafts"
      : view.kind === "triage" ? KIND_WORDS[view.name] : "";
}
