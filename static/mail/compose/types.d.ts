/**
 * The wire of writing and sending mail. Added to the declarations in types.d.ts: interfaces of one name are joined.
 */

type OutgoingState = "scheduled" | "held" | "overdue" | "transmitting" | "sent" | "failed" | "uncertain" | "cancelled";
type AnswerKind = "reply" | "replyAll" | "forward";

/** The message that is quoted below one's own words; the server appends it. */
interface Quote {
  messageId: string;
  kind: "reply" | "forward";
}

interface OutgoingFile {
  fileId: string;
  filename: string;
  mime: string;
  size: number;
}

interface Outgoing {
  id: string;
  accountId: string;
  /** Mailboxes of RFC 5322, here and below. */
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string;
  /** When it goes out; while it is held, when the time to undo ends. */
  sendAt: string | null;
  state: OutgoingState;
  attempts: number;
  lastError: string | null;
  hasAttachments: boolean;
  createdAt: string;
  nextAttemptAt: string | null;
  threadId: string | null;
}

interface DraftRow {
  id: string;
  accountId: string;
  to: string[];
  subject: string;
  snippet: string;
  updatedAt: string;
  replyTo: string | null;
}

/** What a person composed, as it is saved and sent. */
interface Composed {
  accountId: string;
  to: string[];
  cc?: string[];
  bcc?: string[];
  subject: string;
  html: string;
  attachments?: string[];
  replyTo?: string;
  quote?: Quote;
}

interface DraftDetail {
  id: string;
  accountId: string;
  to: string[];
  cc: string[];
  bcc: string[];
  subject: string;
  html: string;
  attachments: OutgoingFile[];
  replyTo: string | null;
  quote: Quote | null;
  version: number;
  updatedAt: string;
}

/** How an answer to a message begins. */
interface Prepared {
  accountId: string;
  to: string[];
  cc: string[];
  subject: string;
  quote: Quote;
  quotedHtml: string;
  attachments: OutgoingFile[];
  signature: string;
}

interface Suggestion extends Person {
  title: string | null;
}

interface Procedures {
  "mail.send": {
    input: Composed & { sendAt?: string; draftId?: string };
    output: { outgoingId: string; state: OutgoingState; messageId: string | null; sendAt: string | null };
  };
  "mail.outgoing": { input: undefined; output: Outgoing[] };
  "mail.cancelSend": { input: { id: string }; output: {} };
  "mail.outgoingDraft": { input: { id: string }; output: { draftId: string | null } };
  "mail.reschedule": { input: { id: string; sendAt: string }; output: {} };
  "mail.retrySend": { input: { id: string }; output: {} };
  "mail.dismissOutgoing": { input: { id: string; draft?: boolean }; output: { draftId: string | null } };
  "mail.drafts": { input: undefined; output: DraftRow[] };
  "mail.draft": { input: { id: string }; output: DraftDetail };
  "mail.saveDraft": { input: Composed & { id?: string; version?: number }; output: { id: string; version: number } };
  "mail.deleteDraft": { input: { id: string }; output: {} };
  "mail.prepare": { input: { threadId?: string; messageId?: string; kind: AnswerKind }; output: Prepared };
  "mail.signature": { input: { accountId: string }; output: { html: string } };
  "mail.setSignature": { input: { accountId: string; html: string }; output: {} };
  "people.suggest": { input: { text: string; limit?: number }; output: Suggestion[] };
}
