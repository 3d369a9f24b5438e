// @ts-check
/** Sending from the window: what is asked before, what is shown after, and why it did not go. */
import { useRef, useState } from "preact/hooks";
import { handedOver, loadOutgoing } from "../../tasks/outgoing.js";
import { toast } from "../../ui/toast.js";
import { RpcError } from "../../rpc.js";
import { formatMailbox } from "./addresses.js";
import { findings } from "./checks.js";
import { bringBack, handOver } from "./composer.js";
import { signatureOf } from "./signature.js";
import { whenWords } from "./when.js";

/**
 * @typedef {object} Sending
 * @property {import("./checks.js").Finding[]} found
 * @property {string} problem
 * @property {boolean} busy
 * @property {(sendAt?: string) => Promise<void>} send
 * @property {() => Promise<void>} sendAnyway
 * @property {() => void} dismiss
 */

/**
 * @param {import("./draft.js").Draft} draft
 * @param {number} uploading files still under way
 * @returns {Sending}
 */
export function useSending(draft, uploading) {
  const [found, setFound] = useState(/** @type {import("./checks.js").Finding[]} */ ([]));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const going = useRef(false);
  const wanted = useRef(/** @type {string | undefined} */ (undefined));

  const go = async () => {
    if (going.current) return;
    going.current = true;
    setBusy(true);
    setFound([]);
    setProblem("");
    try {
      const fields = draft.fields.value;
      const answer = await handOver(wanted.current);
      if (answer) tell(answer, fields);
      else if (draft.problem.value) setProblem(draft.problem.value);
    } catch (error) {
      setProblem(refusal(error));
    }
    going.current = false;
    setBusy(false);
  };
  const send = async (/** @type {string | undefined} */ sendAt) => {
    if (going.current) return;
    wanted.current = sendAt;
    const fields = draft.fields.value;
    const asks = findings(fields, { uploading, signature: signatureOf(fields.accountId).peek() });
    setProblem("");
    setFound(asks);
    if (!asks.length) await go();
  };
  return { found, problem, busy, send, sendAnyway: go, dismiss: () => setFound([]) };
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
      { action: { label: "Undo", run: () => void bringBack(outgoingId) } });
  }
  void loadOutgoing();
}
