/**
 * Short names for frequent types. types.generated.d.ts explains them; it is made from the procedures. This file also
 * has the answers and frames that belong to no procedure.
 */

type Section = "inbox" | "skipped";
type Account = MailAccountOut;
type Health = MailHealthOut;
type DamagedPart = MailDamagedOut;
type Failure = MailFailureOut;
type PendingChange = MailPendingOut;
type Label = MailLabelOut;
type BulkStep = MailBulkOut;
type AccountLabel = MailAccountLabelOut;
type Person = MailPersonOut;
type Correspondent = PeoplePersonOut;
/** In an answer of the search, also where the words stand that were searched for. */
type Thread = MailThreadOut & { match?: Match };
type OwnMessage = MailOwnMessageOut;
type Match = MailMatchOut;
type Undone = MailUndoneOut;
type Attachment = MailAttachmentOut;
type InlinePart = MailInlineOut;
type Message = MailMessageOut;
type ThreadDetail = MailThreadDetailOut;
type Colleague = IdentityPersonOut;
type Member = IdentityUserOut;
type Role = IdentitySetRoleInput["role"];
type Invite = IdentityInviteOut;
type SessionRow = IdentitySessionOut;
type Capability = keyof IdentityCapabilities;
type Device = IdentityDeviceOut;
type PageEntry = PagesTreeEntryOut;
type PageGrant = PagesGrantOut;
type PageDetail = PagesPageOut;
type PageRevision = PagesRevisionOut;
type PageInTrash = PagesTrashEntryOut;
type PageLevel = PageGrant["level"];
type PageAccess = PageDetail["access"];

type Outgoing = MailOutgoingOut;
type OutgoingState = Outgoing["state"];
type OutgoingFile = MailAttachedOut;
type AnswerKind = MailPrepareInput["kind"];
type Quote = MailQuoteOut;
type DraftRow = MailDraftRowOut;
type DraftDetail = MailDraftOut;
type Prepared = MailPreparedOut;
type Suggestion = PeopleSuggestionOut;

type Run = RunsRunOut;
type RunState = Run["state"];
type RunDetail = RunsRunDetail;
type RunStep = RunsStepOut;
type Approval = RunsApprovalOut;

/** What /auth/me answers. */
interface Me {
  user: { id: string; email: string; name: string; role: Role } | null;
  mode: "unclaimed" | "claimed" | "off";
  devLogin: boolean;
  googleLogin: boolean;
}

/** What index.html has asked before any module was here, until rpc.js takes it. */
interface Window {
  svcAsked?: { calls: [name: string, input?: unknown][]; answer: Promise<Response | null> } | undefined;
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
