/**
 * The wire as the web app sees it: inputs and outputs of the procedures it calls, and the frames of /ws.
 * Written by hand to the contract; a global declaration file, so that JSDoc names these types without imports.
 */

type AccountState = "backfilling" | "caught-up" | "waiting" | "reconnect" | "disconnected";
type Section = "inbox" | "skipped";

interface Account {
  id: string;
  address: string;
  provider: string;
  state: AccountState;
  /** Unread threads now in this account's inbox. */
  unread: number;
  /** Of these, the ones that Unified shows (and counts) under another account. */
  unreadTwins: number;
  lastSyncedAt: string | null;
  progress: { done: number; total: number } | null;
  /** A sentence for the person, where `state` asks for one. */
  problem: string | null;
  messages?: number;
  /** Local changes that are not yet at the provider. */
  pending?: number;
  /** Messages that could not be read and were passed over. */
  failed?: number;
}

/** All there is to know about an account's sync. */
interface Health {
  accountId: string;
  state: AccountState;
  problem: string | null;
  cause: "revoked" | "testing-expired" | "scope" | "api-off" | "clock" | "other" | null;
  lastSyncedAt: string | null;
  progress: { done: number; total: number; etaSeconds: number | null } | null;
  /** Messages at the provider, as last heard. */
  provider: number | null;
  here: number;
  pending: number;
  failed: number;
  quota: { usedLastMinute: number; limitPerMinute: number } | null;
  nextAttemptAt: string | null;
}

interface Failure {
  messageId: string;
  step: "fetch" | "store" | "mirror";
  reason: string;
  attempts: number;
  lastAt: string;
}

interface PendingChange {
  threadId: string | null;
  subject: string;
  add: Label[];
  remove: Label[];
  attempts: number;
  lastError: string | null;
  createdAt: string;
}

interface Label {
  id: string;
  name: string;
  color?: string | null;
}

interface AccountLabel extends Label {
  accountId: string;
  /** One of the provider's own. */
  system: boolean;
}

interface Person {
  name: string;
  address: string;
}

interface Correspondent extends Person {
  /** Of their page. */
  title: string | null;
  page: { id: string; path: string; title: string } | null;
  firstSeenAt: string;
  lastSeenAt: string;
  messages: number;
}

interface Thread {
  id: string;
  accountId: string;
  subject: string;
  snippet: string;
  lastMessageAt: string;
  unread: boolean;
  inInbox: boolean;
  labels: Label[];
  sender: Person & { title: string | null };
  messageCount: number;
  hasAttachments: boolean;
  starred: boolean;
  /** When it comes back to the inbox by itself. */
  snoozedUntil: string | null;
  /** All of it is spam, trash or a draft: it stands in neither section. */
  hidden: boolean;
  /** The same mail in other accounts. */
  twins: { accountId: string; threadId: string }[];
  /** Of twins, the one that Unified shows. */
  leads: boolean;
  /** In an answer of the search only. */
  match?: Match;
}

/** Where the words that were searched for stand. */
interface Match {
  messageId: string;
  snippet: { text: string; hit: boolean }[];
}

/** A step that was taken back; `what` is the kind of step. */
interface Undone {
  id: string;
  what: string;
  threadIds: string[];
  /** Of a message that was still held back. */
  draftId: string | null;
}

interface Attachment {
  filename: string;
  mime: string;
  sha256: string;
  size: number;
  fileId: string;
}

/** A part that the HTML refers to by `cid:`. */
interface InlinePart {
  filename: string;
  mime: string;
  size: number;
  fileId: string;
  contentId: string;
}

interface Message {
  id: string;
  from: Person;
  to: Person[];
  cc: Person[];
  bcc: Person[];
  replyTo: Person[];
  subject: string;
  sentAt: string;
  /** Sanitized by the server, always; shown in a sandboxed frame all the same. */
  html: string;
  text: string;
  blockedImages: number;
  remoteImages: string[];
  labels: Label[];
  attachments: Attachment[];
  inline: InlinePart[];
  own: boolean;
  unread: boolean;
  /** The sender's remote images are loaded without asking. */
  imagesAllowed: boolean;
  /** Sentences about what in it may deceive. */
  warnings: string[];
}

interface ThreadDetail {
  thread: Thread;
  filing: { pageId: string; path: string; title: string } | null;
  messages: Message[];
  proposedReply: { id: string; html: string; ruleId: string } | null;
}

interface User {
  id: string;
  email: string;
  name: string;
  role: "admin" | "member";
}

interface Me {
  user: User | null;
  mode: "unclaimed" | "claimed" | "off";
  devLogin: boolean;
  googleLogin: boolean;
}

type Role = User["role"];

/** Whom one can share with. */
type Colleague = Pick<User, "id" | "email" | "name">;

interface Member extends User {
  createdAt: string;
}

interface Invite {
  id: string;
  /** The only address that may use it; null: whoever has the link. */
  email: string | null;
  createdAt: string;
  expiresAt: string;
  usedAt: string | null;
  revokedAt: string | null;
  /** Who came in by it; also null where that is not known. */
  usedBy: { id: string; email: string; name: string } | null;
}

interface SessionRow {
  id: string;
  deviceId: string;
  createdAt: string;
  lastSeenAt: string;
  current: boolean;
}

type Capability = "shell" | "extensionAutomation" | "mobilePush" | "terminal";

interface Device {
  id: string;
  /** null: paired before the workspace was claimed. */
  userId: string | null;
  /** "web-session" for a signed-in browser. */
  kind: string;
  name: string;
  capabilities: Partial<Record<Capability, boolean>>;
  revoked: boolean;
  lastSeenAt: string | null;
}

type PageLevel = "read" | "write";
type PageAccess = "inherited" | "explicit";

interface PageEntry {
  id: string;
  path: string;
  title: string;
  kind: "page" | "surface";
  access: PageAccess;
  canWrite: boolean;
  hasChildren: boolean;
  updatedAt: string;
}

interface PageGrant {
  /** A user's id, or "everyone". */
  to: string;
  level: PageLevel;
  name?: string | null;
}

interface PageDetail {
  id: string;
  path: string;
  title: string;
  kind: PageEntry["kind"];
  body: string;
  revision: number;
  owner: { id: string; name: string } | null;
  access: PageAccess;
  grants: PageGrant[];
  canWrite: boolean;
  /** May share and delete it. */
  canShare: boolean;
  backlinks: { path: string; title: string }[];
  updatedAt: string;
}

interface PageRevision {
  revision: number;
  title: string;
  author: { id: string; name: string } | null;
  deviceId: string;
  at: string;
}

/** Procedure name -> what goes in and what comes out. */
interface Procedures {
  "health.ping": { input: undefined; output: { ok: true; version: string; time: string } };
  "auth.createInvite": {
    input: { email?: string; expiresInDays?: number };
    output: { code: string; url: string; expiresAt: string };
  };
  "auth.invites": { input: undefined; output: Invite[] };
  "auth.revokeInvite": { input: { id: string }; output: {} };
  "auth.sessions": { input: undefined; output: SessionRow[] };
  "auth.revokeSession": { input: { id: string }; output: {} };
  "users.list": { input: undefined; output: Member[] };
  "users.directory": { input: undefined; output: Colleague[] };
  "users.setRole": { input: { id: string; role: Role }; output: {} };
  "devices.list": { input: undefined; output: Device[] };
  "devices.createPairingCode": {
    input: { capabilities?: Device["capabilities"] };
    output: { code: string; expiresAt: string };
  };
  "devices.revoke": { input: { id: string }; output: {} };
  "pages.tree": { input: { path?: string }; output: PageEntry[] };
  "pages.get": { input: { path: string }; output: PageDetail };
  "pages.save": {
    /** `revision`: the one that the writer started from, 0 for none. */
    input: { path: string; title?: string; body: string; revision?: number };
    output: { id: string; revision: number };
  };
  "pages.move": { input: { path: string; to: string }; output: {} };
  "pages.delete": { input: { path: string }; output: {} };
  "pages.history": { input: { path: string }; output: PageRevision[] };
  "pages.restore": { input: { path: string; revision: number }; output: { id: string; revision: number } };
  "pages.setAccess": {
    input: { path: string; access: PageAccess; grants: { to: string; level: PageLevel }[] };
    output: {};
  };
  "people.get": { input: { address: string }; output: Correspondent };
  "people.filed": { input: { path: string }; output: Correspondent[] };
  "people.setPage": { input: { address: string; path: string | null }; output: {} };
  "mail.accounts": { input: undefined; output: Account[] };
  "mail.health": { input: { accountId?: string } | undefined; output: Health[] };
  "mail.failures": { input: { accountId: string }; output: Failure[] };
  "mail.retryFailures": { input: { accountId: string }; output: {} };
  "mail.pending": { input: { accountId: string }; output: PendingChange[] };
  "mail.resync": { input: { accountId: string }; output: {} };
  "mail.disconnect": { input: { accountId: string; erase?: boolean }; output: { revoked: boolean; notice: string | null } };
  "mail.threads": {
    /** A section, or a label by its name in all accounts or one. */
    input: { accountId?: string; section?: Section; labelName?: string; cursor?: string; limit?: number };
    output: { threads: Thread[]; nextCursor: string | null };
  };
  "mail.search": {
    input: { query: string; accountId?: string; timeZone?: string; cursor?: string; limit?: number };
    output: { threads: Thread[]; nextCursor: string | null; notices: string[] };
  };
  "mail.thread": { input: { id: string }; output: ThreadDetail };
  "mail.trustSender": { input: { address: string; trusted: boolean }; output: {} };
  "mail.trustedSenders": { input: undefined; output: { address: string; since: string }[] };
  "mail.open": { input: { threadId: string }; output: {} };
  "mail.markUnread": { input: { threadIds: string[] }; output: {} };
  "mail.archive": { input: { threadIds: string[] }; output: {} };
  "mail.unarchive": { input: { threadIds: string[] }; output: {} };
  "mail.setLabels": { input: { threadIds: string[]; add?: string[]; remove?: string[] }; output: {} };
  "mail.labels": { input: { accountId?: string }; output: AccountLabel[] };
  "mail.createLabel": { input: { accountId: string; name: string; color?: string }; output: { id: string; name: string } };
  "mail.snooze": { input: { threadIds: string[]; until: string }; output: {} };
  "mail.unsnooze": { input: { threadIds: string[] }; output: {} };
  "mail.snoozed": { input: undefined; output: { thread: Thread; until: string }[] };
  "mail.undo": { input: undefined; output: { undone: Undone | null } };
}

type ProcedureName = keyof Procedures;
type InputOf<Name extends ProcedureName> = Procedures[Name]["input"];
type OutputOf<Name extends ProcedureName> = Procedures[Name]["output"];

interface LiveEvent {
  type: "event";
  seq: number;
  topic: string;
  kind: string;
  id: string;
  payload: unknown;
}

type LiveFrame =
  | LiveEvent
  | { type: "ready"; seq: number }
  | { type: "reset"; seq: number }
  | { type: "pong" }
  | { type: "error"; code: string; message: string };
