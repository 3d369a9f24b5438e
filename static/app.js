// @ts-check
/** The web app's boot: starts what runs once, and shows the page that the address names. */
import { render } from "preact";
import { LoginPage } from "./identity/login.js";
import { registerKeys, startKeys } from "./keys.js";
import { listen } from "./live.js";
import { startAccounts } from "./mail/accounts.js";
import { ComposeDock, SendingNotices, onTasksEvent, refetchCompose, startCompose } from "./mail/compose/compose.js";
import { startFrameFocus } from "./mail/frame.js";
import { startGoing } from "./going.js";
import { MailPage, onMailEvent, refetchMail } from "./mail/page.js";
import { SyncStatus } from "./mail/sync.js";
import { Tabs } from "./mail/tabs.js";
import { startClock } from "./now.js";
import { onPagesEvent, refetchPages } from "./pages/news.js";
import { PagesPage } from "./pages/page.js";
import { place, startRouter } from "./router.js";
import { loadMe, me, meProblem, startForgetting } from "./session.js";
import { SettingsPage } from "./settings/page.js";
import { TasksPage } from "./tasks/page.js";
import { startTheme } from "./theme.js";
import { HelpOverlay, helpOpen } from "./ui/help.js";
import { html } from "./ui/html.js";
import { Palette, paletteOpen } from "./ui/palette.js";
import { Shell } from "./ui/shell.js";
import { Toasts } from "./ui/toast.js";

const TOPICS = ["mail", "accounts", "pages", "tasks"];

boot();

function boot() {
  startForgetting();
  startTheme();
  startRouter();
  startClock();
  startKeys();
  startFrameFocus();
  registerKeys("Everywhere", [
    { keys: ["?"], label: "Show these shortcuts", run: () => { helpOpen.value = true; } },
    { keys: ["Mod+k"], label: "Find a command", run: () => { paletteOpen.value = true; }, when: () => place.value.page !== "login" },
  ]);
  startGoing();
  void loadMe().then(listenOnce);
  if (place.value.page !== "login") {
    startAccounts();
    startCompose();
  }
  render(html`<${App} />`, /** @type {HTMLElement} */ (document.getElementById("app")));
}

/** A stranger is on the way to the login page by now, and has nothing to listen to. */
function listenOnce() {
  if (place.value.page === "login" || (!me.value && !meProblem.value)) return;
  listen(TOPICS, { event: onEvent, refetch, signedOut: () => void loadMe() });
}

/** @param {LiveEvent} event */
function onEvent(event) {
  if (event.topic === "pages") onPagesEvent(event);
  else if (event.topic === "tasks") onTasksEvent(event);
  else onMailEvent(event);
}

function refetch() {
  refetchMail();
  refetchPages();
  refetchCompose();
}

function App() {
  const here = place.value;
  if (here.page === "login") return html`<${LoginPage} />`;
  return html`<${Page} here=${here} />
    <${ComposeDock} />
    <${SendingNotices} />
    <${HelpOverlay} />
    <${Palette} />
    <${Toasts} />`;
}

/** @param {{ here: import("./router.js").Place }} props */
function Page({ here }) {
  if (here.page === "mail") {
    return html`<${Shell} tabs=${html`<${Tabs} accountId=${here.accountId} />`} state=${html`<${SyncStatus} />`}>
      <${MailPage} accountId=${here.accountId} threadId=${here.threadId} view=${here.view} />
    </${Shell}>`;
  }
  if (here.page === "tasks") return html`<${Shell}><${TasksPage} /></${Shell}>`;
  if (here.page === "pages") return html`<${Shell}><${PagesPage} path=${here.path} /></${Shell}>`;
  if (here.page === "settings") return html`<${Shell}><${SettingsPage} section=${here.section} /></${Shell}>`;
  return html`<${Shell}><${Missing} /></${Shell}>`;
}

function Missing() {
  return html`<main class="panel"><div class="empty">
    <p class="empty-title">There is nothing at this address</p>
    <p><a class="button" href="/p/mail">Go to the inbox</a></p>
  </div></main>`;
}
