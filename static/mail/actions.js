// @ts-check
/**
 * What a person does with threads: shown at once, told to the server, taken back with a notice if that fails.
 */
import { mutate } from "../rpc.js";
import { toast } from "../ui/toast.js";
import { moveUnread } from "./accounts.js";
import { threadMoved } from "./details.js";
import { applyThread, knownThread } from "./lists.js";

/** Resolves to whether it went well. @param {Thread} thread */
export async function archive(thread) {
  return change(thread, { inInbox: false }, "mail.archive", "Could not archive");
}

/** @param {Thread} thread */
export async function unarchive(thread) {
  await change(thread, { inInbox: true }, "mail.unarchive", "Could not move to the inbox");
}

/**
 * Archive, and say so with a way back.
 * @param {Thread} thread
 * @param {() => void} onUndo once it stands in the list again
 */
export function archiveWithUndo(thread, onUndo) {
  const archived = archive(thread);
  const undo = () => {
    void unarchive(knownThread(thread.id) ?? { ...thread, inInbox: false });
    onUndo();
  };
  const takeBack = toast("Archived", { action: { label: "Undo", run: undo } });
  void archived.then((done) => done || takeBack());
}

/** @param {Thread} thread */
export async function markUnread(thread) {
  await change(thread, { unread: true }, "mail.markUnread", "Could not mark as unread");
}

/** Reading marks as read; a failure is not worth a word, the next opening tries again. @param {Thread} thread */
export async function markOpened(thread) {
  if (!thread.unread) return;
  const undo = pretend(thread, { unread: false });
  try {
    await mutate("mail.open", { threadId: thread.id });
  } catch {
    undo();
  }
}

/**
 * Resolves to whether it went well; if not, the notice was given.
 * @param {Thread} thread
 * @param {Partial<Thread>} patch
 * @param {"mail.archive" | "mail.unarchive" | "mail.markUnread"} procedure
 * @param {string} failure
 */
async function change(thread, patch, procedure, failure) {
  const undo = pretend(thread, patch);
  try {
    await mutate(procedure, { threadIds: [thread.id] });
    return true;
  } catch (error) {
    undo();
    toast(`${failure}: ${error instanceof Error ? error.message : error}`, { tone: "error" });
    return false;
  }
}

/**
 * Show the thread as it will be. Returns what takes it back, if nothing newer came from the server meanwhile.
 * @param {Thread} before
 * @param {Partial<Thread>} patch
 */
function pretend(before, patch) {
  const after = { ...before, ...patch };
  const badge = counts(after) - counts(before);
  put(after, badge);
  return () => put({ ...(knownThread(before.id) ?? after), ...pick(before, patch) }, -badge);
}

/**
 * @param {Thread} thread
 * @param {number} badge
 */
function put(thread, badge) {
  applyThread(thread);
  threadMoved(thread);
  moveUnread(thread.accountId, badge);
}

/** @param {Thread} thread */
function counts(thread) {
  return Number(thread.unread && thread.inInbox);
}

/**
 * @param {Thread} thread
 * @param {Partial<Thread>} patch
 * @returns {Partial<Thread>}
 */
function pick(thread, patch) {
  return Object.fromEntries(Object.keys(patch).map((key) => [key, thread[/** @type {keyof Thread} */ (key)]]));
}
