// @ts-check
/** The feature row of mail. */
import { late } from "../late.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { accounts, startAccounts } from "./accounts.js";
import { startRefusals } from "./actions.js";
import { mailPlace, parseMailAddress } from "./address.js";
import { SHORTCUTS, TRIAGE_SHORTCUTS } from "./commands.js";
import { ComposeDock, SendingNotices, deleteDiscarded, onDraftEvent, refetchCompose, startCompose
  } from "./compose/compose.js";
import { startDragging } from "./dragging.js";
import { DRAFT_SHORTCUTS } from "./drafts_list.js";
import { loadActing } from "./everything.js";
import { startFrameFocus } from "./frame.js";
import { wantLabels } from "./labels.js";
import { listsOf } from "./lists.js";
import { MailPage, followAccounts, followConnection, onMailEvent, refetchMail } from "./page.js";
import { lookup, paletteCommands } from "./palette_commands.js";
import { AccountsPanel, LabelsPanel, PLACES } from "./places.js";
import { SearchField } from "./search.js";
import { wantSnippets } from "./snippets/store.js";
import { SyncStatus } from "./sync.js";
import { Tabs } from "./tabs.js";
import { loadTriage, onTriageEvent } from "./triage.js";

const later = () => import("./later.js");
const AccountsSection = late(later, "AccountsSection");
const FirstStepsSection = late(later, "FirstStepsSection");
const BlockedSection = late(later, "BlockedSection");
const ImagesSection = late(later, "ImagesSection");
const ImportSection = late(later, "ImportSection");
const SearchSection = late(later, "SearchSection");
const SignInsSection = late(later, "SignInsSection");
const SnippetsSection = late(later, "SnippetsSection");
const SignaturesSection = late(later, "SignaturesSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "mail",
  routes: [{ parse: parseMailAddress, show }],
  nav: PLACES,
  keys: async () => [{ title: "Mail", shortcuts: SHORTCUTS }, { title: "Triage", shortcuts: TRIAGE_SHORTCUTS },
    { title: "Drafts", shortcuts: DRAFT_SHORTCUTS }],
  panels: [LabelsPanel, AccountsPanel],
  topics: ["mail", "accounts", "tasks", "triage"],
  onEvent: (event) => (event.topic === "tasks" ? onDraftEvent(event) : event.topic === "triage" ? onTriageEvent(event)
    : onMailEvent(event)),
  refetch() {
    refetchMail();
    void loadTriage();
    refetchCompose();
  },
  start() {
    startFrameFocus();
    startAccounts();
    followAccounts();
    followConnection();
    const at = mailPlace.value;
    if (at) listsOf(at.view, at.accountId)[0]?.start(); // together with the accounts, not only once these are shown
    startRefusals();
    startDragging();
    void loadActing();
    void loadTriage();
    startCompose();
  },
  leave: deleteDiscarded,
  overlays: [ComposeDock, SendingNotices],
  settings: [
    { name: "first-steps", label: "First steps", title: "First steps", group: "General", icon: "check", order: 8,
      holds: ["Try the demo", "Connect a mailbox", "Invite people"], show: FirstStepsSection },
    { name: "accounts", label: "Accounts", title: "Mail accounts", group: "Mail", icon: "unread", order: 10,
      holds: ["Connect a mailbox", "Disconnect", "Your name in From", "Aliases", "Share an account", "Password"],
      show: AccountsSection },
    { name: "signatures", label: "Signatures", title: "Signatures", group: "Mail", icon: "signature", order: 20,
      holds: ["Text below your mail"], show: SignaturesSection },
    { name: "snippets", label: "Snippets", title: "Snippets", group: "Mail", icon: "snippet", order: 25,
      holds: ["Canned answers", "Templates", "Text blocks"], show: SnippetsSection },
    { name: "images", label: "Images", title: "Images in mail", group: "Mail", icon: "image", order: 30,
      holds: ["Load remote images", "Trusted senders"], show: ImagesSection },
    { name: "blocked", label: "Blocked senders", title: "Blocked senders", group: "Mail",
      icon: "blocked-sender", order: 35,
      holds: ["Block sender", "Unblock"], show: BlockedSection },
    { name: "import", label: "Import", title: "Import and export", group: "Data & backups", icon: "download", order: 40,
      holds: ["Mbox", "Takeout", "Maildir", "Download your mail"], show: ImportSection },
    { name: "sign-ins", label: "Google and Microsoft", title: "Google and Microsoft", group: "Server",
      icon: "sign-in", order: 54,
      adminOnly: true, holds: ["Google client id and secret", "Microsoft client", "Redirect address", "OAuth client"],
      show: SignInsSection },
    { name: "search", label: "Search", title: "Search", group: "Server", icon: "index", order: 58, adminOnly: true,
      holds: ["Search index"], show: SearchSection },
  ],
  commands: paletteCommands,
  lookup,
  prepare() {
    void wantLabels();
    void wantSnippets().catch(() => undefined); // then the palette offers no snippets
  },
  icons: {
    signature: "M3 16h14M3.5 12.5c2.5-1 5-7.5 6.3-7.3 1.6.3-2.3 6.6-.8 7.1 1.2.4 1.8-2.3 2.8-2.1.9.2.1 1.9 1 2.1.8.2 " +
      "1.2-1 2.1-1 .7 0 .8.9 1.6.9",
    "sign-in": "M11 4h5v12h-5M3.5 10h8.5M9 7l3 3-3 3",
    index: "M3.5 5.5h8M3.5 9.5h4M3.5 13.5h4M12.5 8.8a2.9 2.9 0 1 0 0 5.8 2.9 2.9 0 0 0 0-5.8zM14.7 13.9l2.3 2.3",
    all: "M3 6.5 10 3l7 3.5L10 10zM3 10l7 3.5 7-3.5M3 13.5 10 17l7-3.5",
    "pick-all": "M3 10.5 6.5 14 13 7M9.5 13l1 1L17 7.5",
    archive: "M3 4.5h14v3H3zM4.5 7.5v8h11v-8M8 10.5h4",
    up: "M5 12.5 10 7.5l5 5",
    down: "M5 7.5 10 12.5l5-5",
    unread: "M3 5.5h14v9H3zM3 6l7 5 7-5",
    download: "M10 3.5v9M6.5 9.5 10 13l3.5-3.5M4 16.5h12",
    blocked: "M3 10s2.5-4.5 7-4.5c1 0 2 .2 2.8.6M17 10s-2.5 4.5-7 4.5c-1 0-2-.2-2.8-.6M4 16 16 4",
    "blocked-sender": "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM5.4 5.4l9.2 9.2",
    star: "M10 3.2l2.1 4.3 4.7.7-3.4 3.3.8 4.7-4.2-2.2-4.2 2.2.8-4.7-3.4-3.3 4.7-.7z",
    mute: "M8.2 4.4A4.6 4.6 0 0 1 14.6 9c0 2 .4 3.2 1 4M5.4 8.4c0 3-1 4.6-1.9 5.4h10.2M8.4 16.2h3.2M3.5 3.5l13 13",
    filter: "M4 5.5h12M6.5 10h7M8.5 14.5h3",
    label: "M3.5 4h6.3l6.7 6.7-5.8 5.8L3.5 9.8zM6.7 7.2h.01",
    spam: "M7 3.5h6l3.5 3.5v6L13 16.5H7L3.5 13V7zM10 6.8v3.9M10 13.2h.01",
    later: "M16.5 3.5 3.5 9l4.8 2 2 5zM16.5 3.5 8.3 11",
    undo: "M7.5 5 4 8.5 7.5 12M4 8.5h7.5a4 4 0 0 1 0 8H8",
    bold: "M6.5 4h4.2a2.9 2.9 0 0 1 0 5.8H6.5zM6.5 9.8h5a3.1 3.1 0 0 1 0 6.2h-5z",
    italic: "M8.5 4h5M6.5 16h5M11.5 4l-3 12",
    bullets: "M8 5h8.5M8 10h8.5M8 15h8.5M4 5h.01M4 10h.01M4 15h.01",
    numbers: "M8.5 5h8M8.5 10h8M8.5 15h8M3.5 3.8 4.7 3v4M3.3 9.5c.4-1 2-1 2 .1 0 .9-2 1.2-2 2.4h2.2M3.4 14c.9-.6 " +
      "2-.2 " +
      "2 .6 0 .5-.5.8-1 .8.6 0 1.1.3 1.1.9 0 .9-1.3 1.3-2.2.6",
    quotation: "M4.5 12V9.2A3.2 3.2 0 0 1 7.7 6M4.5 12h3.2V9.2H4.5" +
      "M11.5 12V9.2A3.2 3.2 0 0 1 14.7 6M11.5 12h3.2V9.2h-3.2",
    code: "M7 6 3 10l4 4M13 6l4 4-4 4",
    heading: "M5 4v12M15 4v12M5 10h10",
    subheading: "M6.5 7v9M13.5 7v9M6.5 11.5h7",
    snippet: "M4 4.5h12v8H9l-3 3v-3H4zM7 7.5h6M7 9.5h4",
    plain: "M5 5h9M9.5 5 8 15M12.5 12l4 4M16.5 12l-4 4",
    redo: "M12.5 5 16 8.5 12.5 12M16 8.5H8.5a4 4 0 0 0 0 8H12",
    "more-formats": "M3.5 15 7.5 5l4 10M5 11.5h5M14.5 10h.01M17 10h.01",
    minimise: "M5 14.5h10",
    again: "M16 10a6 6 0 1 1-1.8-4.3M16 3.5v3h-3",
    print: "M6 7.5v-4h8v4M6 14H3.5V7.5h13V14H14M6 11.5h8v5H6z",
    "answer-more": "M4.2 10a.4.4 0 1 0 .8 0 .4.4 0 1 0-.8 0zM9.6 10a.4.4 0 1 0 .8 0 .4.4 0 1 0-.8 0zM15 10a.4.4 0 1 " +
      "0 .8 0 .4.4 0 1 0-.8 0z",
    "answer-in": "M4 4.5h12v11H4zM4 11.5h12M7 8h6",
    "answer-full": "M4 8V4h4M12 4h4v4M16 12v4h-4M8 16H4v-4",
    trash: "M4 5.5h12M8 5.5v-2h4v2M5.5 5.5l.7 11h7.6l.7-11M8.5 8.5v5M11.5 8.5v5",
    reply: "M8.5 5 4 9.5 8.5 14M4 9.5h7c3 0 5 2 5 5.5",
    replyAll: "M10.5 5 6 9.5l4.5 4.5M6.5 5 2 9.5 6.5 14M6 9.5h6c3 0 5 2 5 5.5",
    forward: "M11.5 5 16 9.5 11.5 14M16 9.5H9c-3 0-5 2-5 5.5",
    place: "M10 17s5-4.6 5-8.5a5 5 0 0 0-10 0C5 12.4 10 17 10 17zM10 10.3a1.8 1.8 0 1 0 0-3.6 1.8 1.8 0 0 0 0 3.6z",
    search: "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM13 13l4 4",
  },
};

/** @param {import("./address.js").MailPlace} place */
function show({ accountId, threadId, view }) {
  const search = accounts.value?.length ? html`<${SearchField} accountId=${accountId} view=${view} />` : undefined;
  return html`<${Shell} tabs=${html`<${Tabs} accountId=${accountId} only=${view.only ?? null}
    filters=${view.kind !== "search" || view.only !== undefined} />`} search=${search}
    state=${html`<${SyncStatus} />`}>
    <${MailPage} accountId=${accountId} threadId=${threadId} view=${view} />
  </${Shell}>`;
}
