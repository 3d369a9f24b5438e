// @ts-check
/** Sending a message: the questions before, the notice after, and the reason if it was not sent. */
import { useRef, useState } from "preact/hooks";
import { handedOver, loadOutgoing } from "../../tasks/outgoing.js";
import { toast } from "../../ui/toast.js";
import { RpcError } from "../../rpc.js";
import { formatMailbox } from "./addresses.js";
import { archive, newGroup, unarchive } from "../actions.js";
import { mayAct } from "../accounts.js";
import { opened } from "../details.js";
import { knownThread } from "../lists.js";
import { goOn } from "../moving.js";
import { unfilled } from "../snippets/putting.js";
import { findings } from "./checks.js";
import { bringBack, handOver } from "./composer.js";
import { composition } from "./current.js";
import { signatureOf } from "./signature.js";
import { whenWords } from "./when.js";

/**
 * @typedef {object} Sending
 * @property {import("./checks.js").Finding[]} found
 * @property {string} problem
 * @property {boolean} busy
 * @property {boolean} archives whether the thread that it answers can be archived with it
 * @property {(sendAt?: string, archive?: boolean) => Promise<void>} send `archive`: its thread, too
 * @property {() => Promise<void>} sendAnyway
 * @property {() => void} dismiss
 */

/**
 * The threads that were archived with a mail which can still be taken back, by the id of the outgoing mail.
 * @type {Map<string, Thread>}
 */
const archivedWith = new Map();

/** @param {import("./current.js").Composition} current @returns {Sending} */
export function useSending(current) {
  const { draft, problem } = current;
  const [found, setFound] = useState(/** @type {import("./checks.js").Finding[]} */ ([]));
  const [busy, setBusy] = useState(false);
  const wanted = useRef(/** @type {{ sendAt: string | undefined, archive: boolean }} */ ({ sendAt: undefined,
    archive: false }));

  const go = async () => {
    if (current.handing) return;
    setBusy(true);
    setFound([]);
    problem.value = "";
    try {
      const fields = draft.fields.value;
      const { sendAt, archive } = wanted.current;
      const thread = archive ? answered(current) : null;
      const group = thread ? newGroup() : undefined;
      const answer = await handOver(sendAt, group);
      if (answer) tell(answer, fields);
      if (thread && composition.value !== current) archiveWith(thread, group, answer);
      else if (draft.problem.value) problem.value = draft.problem.value;
    } catch (error) {
      problem.value = refusal(error);
    }
    setBusy(false);
  };
  const send = async (/** @type {string | undefined} */ sendAt, archive = false) => {
    if (current.handing) return;
    wanted.current = { sendAt, archive };
    const fields = draft.fields.value;
    const asks = findings(fields, { uploading: current.uploads.underWay,
      signature: signatureOf(fields.accountId).peek(), unfilled: unfilled([fields.subject, fields.html]) });
    problem.value = "";
    setFound(asks);
    if (!asks.length) await go();
  };
  return { found, problem: problem.value, busy, archives: answered(current) !== null, send, sendAnyway: go,
    dismiss: () => setFound([]) };
}

/** The answered thread, if it can be archived. @param {import("./current.js").Composition} current */
function answered({ about }) {
  if (!about) return null;
  const open = opened.value?.detail?.thread;
  const thread = knownThread(about.threadId) ?? (open?.id === about.threadId ? open : null);
  return thread?.inInbox && mayAct(thread.accountId) ? thread : null;
}

/**
 * Archives the thread with a mail. While the mail is held, taking it back also undoes the archiving; so the notice of
 * the mail is enough.
 * @param {Thread} thread
 * @param {string | undefined} group
 * @param {OutputOf<"mail.send"> | null} answer
 */
function archiveWith(thread, group, answer) {
  if (answer) archivedWith.set(answer.outgoingId, thread);
  const tells = answer?.state !== "held";
  goOn([thread], () => archive([thread], { ...(group !== undefined && { group }), quiet: !tells }));
}

/**
 * Takes back a message that was not sent yet, and undoes the archiving that was done with it. The archiving first: the
 * list scrolls to the thread that is shown, and would scroll to where it lay among the archived.
 * @param {string} id of the outgoing
 */
export async function takeBackSent(id) {
  const thread = archivedWith.get(id);
  archivedWith.delete(id);
  const unarchived = () => thread && void unarchive([thread], { quiet: true });
  if (!(await bringBack(id, unarchived)) && thread) archivedWith.set(id, thread);
}

/** @param {unknown} error */
function refusal(error) {
  if (error instanceof RpcError && error.code === "OFFLINE") {
    return "The server can’t be reached. Send it again when it can: it never goes out twice.";
  }
  return error instanceof Error ? error.message : String(error);
}

/**
 * @param {OutputOf<"mail.send">} answer
 * @param {import("./wire.js").Fields} fields
 */
function tell({ outgoingId, messageId, state, sendAt }, fields) {
  handedOver({
    id: outgoingId, accountId: fields.accountId, to: fields.to.map(formatMailbox), cc: fields.cc.map(formatMailbox),
      bcc: fields.bcc.map(formatMailbox),
    subject: fields.subject, sendAt, state, attempts: 0, lastError: null, hasAttachments: fields.attachments.length > 0,
    createdAt: new Date().toISOString(), nextAttemptAt: null, threadId: fields.replyTo, messageId,
    by: null,
  });
  if (state === "scheduled" && sendAt) {
    toast(`It goes out ${whenWords(new Date(sendAt), new Date())}.`,
      { action: { label: "Undo", run: () => void takeBackSent(outgoingId) } });
  }
  void loadOutgoing();
}
