// @ts-check
/** Drafts that are discarded: each is deleted a while later, so that it can be restored completely, with its files. */
import { RpcError, mutate, mutateAtLast } from "../../rpc.js";
import { toast } from "../../ui/toast.js";
import { offerUndoHere } from "../actions.js";
import { hideDraft } from "./drafts.js";

/** How long a discarded draft can be restored. Its notice leaves then, if it is still there. */
const DELETE_AFTER_MS = 15_000;

/** The drafts that are deleted soon, each with what deletes it now. @type {Map<string, () => Promise<void>>} */
const leaving = new Map();

/**
 * Deletes a draft once it can't be restored any more: after a while, or when the page is left.
 * @param {string | null} id
 * @param {() => void} bringBack
 */
export function deleteSoon(id, bringBack) {
  const deleteNow = () => {
    clearTimeout(timer);
    tooLate();
    return deleteDraft(id);
  };
  if (id !== null) {
    hideDraft(id, true);
    leaving.set(id, deleteNow);
  }
  const timer = setTimeout(() => void deleteNow(), DELETE_AFTER_MS);
  const tooLate = offerUndoHere("Draft deleted.", () => {
    clearTimeout(timer);
    if (id !== null && leaving.delete(id)) hideDraft(id, false);
    bringBack();
  });
}

/** Deletes the discarded drafts now, because the page is left. */
export function deleteAtLast() {
  for (const id of leaving.keys()) mutateAtLast("mail.deleteDraft", { id });
  leaving.clear();
}

/** Deletes what is discarded, because the person signs out: afterwards nobody may. */
export async function deleteDiscarded() {
  await Promise.all([...leaving.values()].map((deleteNow) => deleteNow()));
}

/** @param {string | null} id */
async function deleteDraft(id) {
  if (id === null || !leaving.delete(id)) return;
  try {
    await mutate("mail.deleteDraft", { id });
  } catch (error) {
    if (error instanceof RpcError && error.code === "NOT_FOUND") return;
    hideDraft(id, false);
    toast(`Could not delete the draft: ${error instanceof Error ? error.message : error}`, { tone: "error" });
  }
}
