// @ts-check
/** The approvals that wait for this user: one list for the task queue, its count and the pages of runs. */
import { signal } from "@preact/signals";
import { mutate, query, RpcError } from "../rpc.js";
import { toast } from "../ui/toast.js";

/** The oldest first. */
export const approvals = signal(/** @type {Approval[] | null} */ (null));
export const approvalsProblem = signal("");

const TOLD_CHARS = 80;

let asked = 0;

export async function loadApprovals() {
  const mine = ++asked;
  try {
    const found = await query("approvals.list");
    if (mine !== asked) return;
    approvals.value = found;
    approvalsProblem.value = "";
  } catch (error) {
    if (mine === asked) approvalsProblem.value = error instanceof Error ? error.message : String(error);
  }
}

/** An approval was requested or decided, or its run changed: it expired, was cancelled, or tries again.
 * @param {LiveEvent} event */
export function onApprovalNews({ kind, id }) {
  if (kind === "approval.decided") drop(id);
  const isOfOne = kind === "run.changed" && approvals.value?.some(({ runId }) => runId === id);
  if (isOfOne || kind === "approval.requested" || kind === "approval.decided") void loadApprovals();
}

/**
 * `input` replaces the requested input. Throws if it may be tried again. An approval that was decided elsewhere leaves
 * the list, with a message.
 * @param {Approval} approval
 * @param {{ approve: boolean, input?: unknown }} decision
 */
export async function decide({ id, summary }, { approve, input }) {
  try {
    await mutate("approvals.decide", { id, approve, ...(input !== undefined && { input }) });
    const about = summary.length > TOLD_CHARS ? `${summary.slice(0, TOLD_CHARS)}…` : summary;
    toast(`${approve ? "Approved" : "Declined"}: ${about}`);
  } catch (error) {
    if (!(error instanceof RpcError) || !["CONFLICT", "NOT_FOUND"].includes(error.code)) throw error;
    toast(`Not decided by you: ${error.message}`, { tone: "error" });
  }
  drop(id);
  await loadApprovals();
}

/** @param {string} id */
function drop(id) {
  asked += 1; // ignore an answer that is on its way: it may still contain this one
  approvals.value = approvals.value?.filter((one) => one.id !== id) ?? null;
}
