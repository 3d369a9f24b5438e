// @ts-check
/**
 * The actions on threads: shown at once, sent to the server, and reverted with a notice if that fails.
 *
 * Steps are sent one after the other, so that the server's undo log has them in the person's order. In the unified
 * inbox a step also applies to a thread's duplicates, the same mail in other accounts, in the same call.
 */
import { batch } from "@preact/signals";
import { liveState } from "../live.js";
import { act, onRefusal, queue, takeBackNewest } from "../offline/queue.js";
import { mutate } from "../rpc.js";
import { mailPlace } from "./address.js";
import { plural } from "../ui/format.js";
import { announce } from "../ui/announce.js";
import { toast } from "../ui/toast.js";
import { mayAct, moveUnread } from "./accounts.js";
import { latest, opened, refetchDetails, threadMoved } from "./details.js";
import { colourOf, labelNamed, makeLabel } from "./labels.js";
import { applyThread, knownThread, refetchLists } from "./lists.js";
import { relabelled } from "./relabel.js";
import { welcome } from "./returned.js";

/** The most threads that the server accepts in one call. */
const MAX_A_CALL = 500;
/** @typedef {import("./relabel.js").SystemLabel} SystemLabel */
/**
 * The part of a step that fits in one call; `group` is the same for all calls of one step, so that undo takes the whole
 * step back.
 * @typedef {{ threadIds: string[], group?: string }} Part
 */
/**
 * @typedef {object} Step
 * @property {(thread: Thread) => Partial<Thread>} patch the changed fields of the row
 * @property {(part: Part) => Promise<unknown>} tell
 * @property {string} failure
 * @property {string} [done] the text of the notice that offers undo
 * @property {string} [heard] what a screen reader says instead, if there is no notice
 */

/** The steps that are being sent. @type {Promise<unknown>} */
let told = Promise.resolve();
/** Removes the notice that offers undo, because another step is the newest now. */
let dropOffer = () => {};
/** Takes the newest step back if the server does not know of it yet. @type {(() => void) | null} */
let takeBackHere = null;
/** How many steps of this page can still be undone, as far as this page knows. */
let undoable = 0;

/**
 * Resolves to whether it succeeded; so do the other actions. `group`: of the steps that are undone with it; `quiet`:
 * without a notice of its own, because the caller offers undo.
 * @param {Thread[]} threads
 * @param {{ group?: string, quiet?: boolean }} [how]
 */
export function archive(threads, { group, quiet = false } = {}) {
  return run(threads, {
    patch: (thread) => relabelled(thread, [], ["INBOX"]),
    tell: (part) => act("mail.archive", group === undefined ? part : { ...part, group }),
    failure: "Could not archive",
    ...(!quiet && { done: said(threads, "Archived", "archived") }),
  });
}

/** @param {Thread[]} threads @param {{ quiet?: boolean }} [how] */
export function unarchive(threads, { quiet = false } = {}) {
  return run(threads, {
    patch: (thread) => ({ ...relabelled(thread, ["INBOX"], ["SPAM", "TRASH"]), snoozedUntil: null, muted: false }),
    tell: (part) => act("mail.unarchive", part),
    failure: "Could not move to the inbox",
    ...(!quiet && { done: said(threads, "Moved to the inbox", "moved to the inbox") }),
  });
}

/**
 * Mutes threads, which leave the inbox with their new messages; or unmutes them.
 * @param {Thread[]} threads
 * @param {boolean} on
 */
export function mute(threads, on) {
  if (!on) {
    return run(threads, {
      patch: () => ({ muted: false }),
      tell: (part) => act("mail.unmute", part),
      failure: "Could not unmute",
      done: said(threads, "No longer muted", "no longer muted"),
    });
  }
  return run(threads, {
    patch: (thread) => ({ ...relabelled(thread, [], ["INBOX"]), muted: true }),
    tell: (part) => act("mail.mute", part),
    failure: "Could not mute",
    done: said(threads, "Muted: new messages skip the inbox", "muted: new messages skip the inbox"),
  });
}

/** @param {Thread[]} threads */
export function markUnread(threads) {
  return run(threads, {
    patch: (thread) => relabelled(thread, ["UNREAD"], []),
    tell: (part) => act("mail.markUnread", part),
    failure: "Could not mark as unread",
    heard: said(threads, "Marked as unread", "marked as unread"),
  });
}

/** @param {Thread[]} threads */
export function markRead(threads) {
  return setSystem(threads, [], ["UNREAD"], "Could not mark as read",
    { heard: said(threads, "Marked as read", "marked as read") });
}

/** @param {Thread[]} threads @param {boolean} on */
export function star(threads, on) {
  return setSystem(threads, on ? ["STARRED"] : [], on ? [] : ["STARRED"], on ? "Could not star"
    : "Could not take the star away", { heard: on ? said(threads, "Starred", "starred")
      : said(threads, "Star taken away", "without a star") });
}

/** @param {Thread[]} threads */
export function trash(threads) {
  return setSystem(threads, ["TRASH"], ["INBOX"], "Could not delete",
    { done: said(threads, "Moved to the trash", "moved to the trash") });
}

/** @param {Thread[]} threads */
export function reportSpam(threads) {
  return setSystem(threads, ["SPAM"], ["INBOX"], "Could not report as spam",
    { done: said(threads, "Moved to spam", "moved to spam") });
}

/** Moves threads from spam or trash back to the inbox. @param {Thread[]} threads */
export function restore(threads) {
  return setSystem(threads, ["INBOX"], ["SPAM", "TRASH"], "Could not move to the inbox",
    { done: said(threads, "Moved to the inbox", "moved to the inbox") });
}

/** @param {Thread[]} threads @param {string} until @param {string} words */
export function snooze(threads, until, words) {
  return run(threads, {
    patch: (thread) => ({ ...relabelled(thread, [], ["INBOX"]), snoozedUntil: until }),
    tell: (part) => act("mail.snooze", { ...part, until }),
    failure: "Could not snooze",
    done: said(threads, `Snoozed until ${words}`, `snoozed until ${words}`),
  });
}

/** @param {Thread[]} threads */
export function unsnooze(threads) {
  return run(threads, {
    patch: (thread) => ({ ...relabelled(thread, ["INBOX"], []), snoozedUntil: null }),
    tell: (part) => act("mail.unsnooze", part),
    failure: "Could not bring back",
    done: said(threads, "Brought back to the inbox", "brought back to the inbox"),
  });
}

/**
 * Adds a person's own label to threads, or removes it. Each account has its own labels: in an account that has none of
 * that name it is created first. The rows show it before that.
 * @param {Thread[]} threads
 * @param {string} name
 * @param {boolean} on
 * @param {{ color?: string | undefined, file?: boolean }} [how] `file`: also archive them, in the same step
 */
export function label(threads, name, on, { color, file = false } = {}) {
  const accountIds = [...new Set(withDuplicates(threads).map(({ accountId }) => accountId))];
  const worn = (/** @type {string} */ accountId) => threads.find((one) => one.accountId === accountId)?.labels.find(
    (one) => one.name === name) ?? null;
  const here = new Map(accountIds.map((accountId) => [accountId, labelNamed(accountId, name) ?? worn(accountId)]));
  const missing = on ? accountIds.filter((accountId) => !here.get(accountId)) : [];
  const expected = { id: name, name, color: colourOf(name, color) };
  return run(threads, {
    patch: (thread) => {
      const mine = here.get(thread.accountId) ?? (on ? expected : null);
      if (!mine) return {};
      const others = thread.labels.filter((one) => one.id !== mine.id);
      const labels = on ? [...others, mine] : others;
      return file ? relabelled({ ...thread, labels }, [], ["INBOX"]) : { labels };
    },
    tell: async (part) => {
      await Promise.all(missing.map((accountId) => makeLabel(accountId, name, color)));
      await act("mail.setLabels", { ...part, ...(on ? { addNames: [name] } : { removeNames: [name] }),
        ...(file && { remove: ["INBOX"] }) });
    },
    failure: on ? `Could not put “${name}” on it` : `Could not take “${name}” away`,
    done: file ? said(threads, `Archived as “${name}”`, `archived as “${name}”`)
      : on ? said(threads, `Labelled “${name}”`, `labelled “${name}”`)
      : said(threads, `“${name}” taken away`, `without “${name}”`),
  });
}

/** Marks an opened thread as read. A failure is not reported: the next opening tries again. @param {Thread} thread */
export async function markOpened(thread) {
  welcome(thread.id);
  if (!thread.unread) return;
  const all = withDuplicates([thread]);
  if (!mayAct(thread.accountId)) return;
  const takeBack = pretend(all, (one) => relabelled(one, [], ["UNREAD"]));
  try {
    await Promise.all(all.map(({ id }) => act("mail.open", { threadId: id })));
  } catch {
    takeBack();
  }
}

/**
 * Takes the newest step back, even one from another window or an earlier time. Resolves to a description of the step
 * after the notice is shown.
 */
export async function undo() {
  dropOffer();
  if (takeBackHere) {
    const run = takeBackHere;
    takeBackHere = null;
    undoable = Math.max(undoable - 1, 0);
    run();
    return null;
  }
  const mine = told.then(async () => {
    if (queue.value.some(isStep)) return undoWaiting();
    const { undone } = await mutate("mail.undo");
    return undone;
  });
  told = mine.catch(() => undefined);
  try {
    const undone = await mine;
    const words = undone ? await undoneWords(undone) : "There is nothing to undo.";
    dropOffer();
    undoable = undone ? Math.max(undoable - 1, 0) : 0;
    dropOffer = toast(words, undoable ? { action: { label: "Undo more", run: () => onUndo.run() } } : {});
    if (liveState.value !== "live") refetchLists();
    return undone;
  } catch (error) {
    toast(`Could not take it back: ${reason(error)}`, { tone: "error" });
    return null;
  }
}

/** @param {import("../offline/queue.js").Act} one */
function isStep({ name }) {
  return name !== "mail.send" && name !== "mail.open";
}

/** Takes back the newest step while it waits to be sent: it never happens. @returns {Promise<Undone>} */
async function undoWaiting() {
  const taken = await takeBackNewest(isStep);
  const [newest] = taken;
  if (!newest) throw new Error("it may have reached the server already. Try again once that can be reached.");
  refetchLists();
  refetchDetails();
  const what = newest.name === "mail.setLabels" ? "labels" : newest.name.replace("mail.", "");
  return { id: "", what, threadIds: taken.flatMap(({ input }) => input.threadIds), draftId: null };
}

/** Handles refusals of steps that waited: the lists are wrong then, and the person gets a notice. Called once. */
export function startRefusals() {
  onRefusal("", ({ name, input }, why) => {
    const [first = ""] = input.threadIds ?? [input.threadId];
    const subject = knownThread(first)?.subject;
    const what = WAITED[name] ?? "A change";
    toast(`${what}${subject ? ` of “${subject}”` : ""} from when you were offline was refused: ${why}`,
      { tone: "error", stays: true });
    refetchLists();
    refetchDetails();
  });
}

/** @type {Record<string, string>} */
const WAITED = { "mail.archive": "Archiving", "mail.unarchive": "The move to the inbox", "mail.open": "Reading",
  "mail.markUnread": "Marking as unread", "mail.snooze": "Snoozing", "mail.unsnooze": "Bringing back",
  "mail.setLabels": "A change of labels", "mail.mute": "Muting", "mail.unmute": "Unmuting" };

/** Runs when the person presses undo in a notice; the page sets it. */
export const onUndo = { run: () => void undo() };

/**
 * @param {Thread[]} threads
 * @param {SystemLabel[]} add
 * @param {SystemLabel[]} remove
 * @param {string} failure
 * @param {Pick<Step, "done" | "heard">} words
 */
function setSystem(threads, add, remove, failure, words) {
  const patch = (/** @type {Thread} */ thread) => relabelled(thread, add, remove);
  return run(threads, { patch, tell: (part) => act("mail.setLabels", { ...part, add, remove }), failure,
    ...words });
}

/**
 * @param {Thread[]} threads
 * @param {Step} step
 */
async function run(threads, { patch, tell, failure, done, heard }) {
  const all = withDuplicates(threads);
  if (threads.some(({ accountId }) => !mayAct(accountId))) {
    toast(`${failure}: it is shared with you to read.`, { tone: "error" });
    return false;
  }
  const takeBack = pretend(all, patch);
  const dropMine = offerUndo(done);
  if (heard) announce(heard);
  const ids = all.map(({ id }) => id);
  try {
    await inOrder(async () => {
      for (const part of parts(ids)) await tell(part);
    });
    return true;
  } catch (error) {
    takeBack();
    dropMine();
    toast(`${failure}: ${reason(error)}`, { tone: "error" });
    return false;
  }
}

/**
 * Makes another step the newest one; with `done`, shows a notice that offers undo. Returns a function for when the step
 * did not happen. @param {string} [done]
 */
export function offerUndo(done) {
  dropOffer();
  if (!takeBackHere) undoable += 1; // else it takes the place of one that can't be undone any more
  takeBackHere = null;
  const drop = done ? toast(done, { action: { label: "Undo", run: () => onUndo.run() } }) : () => {};
  dropOffer = drop;
  return () => {
    undoable = Math.max(undoable - 1, 0);
    drop();
  };
}

/**
 * The same for an action that is delayed: until then `run` takes it back. Returns a function that ends the offer.
 * @param {string} done
 * @param {() => void} run
 */
export function offerUndoHere(done, run) {
  const drop = offerUndo(done);
  takeBackHere = run;
  return () => {
    if (takeBackHere !== run) return;
    takeBackHere = null;
    drop();
  };
}

/**
 * Sends a step after the earlier ones.
 * @template T
 * @param {() => Promise<T>} tell
 */
export function inOrder(tell) {
  const mine = told.then(tell);
  told = mine.catch(() => undefined);
  return mine;
}

/** A new group id for steps that are undone together. */
export function newGroup() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (one) => one.toString(36)).join("-");
}

/** @param {string[]} ids @returns {Part[]} */
function parts(ids) {
  if (ids.length <= MAX_A_CALL) return [{ threadIds: ids }];
  const group = newGroup();
  return Array.from({ length: Math.ceil(ids.length / MAX_A_CALL) }, (_, at) => ({
    threadIds: ids.slice(at * MAX_A_CALL, (at + 1) * MAX_A_CALL), group,
  }));
}

/**
 * The threads, each with its duplicates in the unified inbox; only those that the person may change.
 * @param {Thread[]} threads
 * @returns {{ id: string, accountId: string, duplicate: boolean }[]}
 */
export function withDuplicates(threads) {
  const unified = (mailPlace.value?.accountId ?? null) === null;
  const all = threads.flatMap((thread) => [
    { id: thread.id, accountId: thread.accountId, duplicate: false },
    ...(unified ? thread.twins.map(({ threadId, accountId }) => ({ id: threadId, accountId, duplicate: true })) : []),
  ]);
  return [...new Map(all.map((one) => [one.id, one])).values()].filter(({ accountId }) => mayAct(accountId));
}

/**
 * Shows the expected state of the threads. Returns a function that reverts it, unless the server sent a newer state
 * meanwhile.
 * @param {{ id: string, duplicate: boolean }[]} all
 * @param {(thread: Thread) => Partial<Thread>} patch
 */
export function pretend(all, patch) {
  const befores = all.flatMap(({ id, duplicate }) => {
    const before = knownThread(id) ?? (opened.value?.id === id ? opened.value.detail?.thread : null);
    return before ? [{ before, duplicate, change: patch(before) }] : [];
  });
  batch(() => {
    for (const { before, duplicate, change } of befores) {
      const after = { ...before, ...change };
      put(after, counts(after) - counts(before), duplicate);
    }
  });
  return () => batch(() => {
    for (const { before, duplicate, change } of befores) {
      const after = { ...before, ...change };
      put({ ...(knownThread(before.id) ?? after), ...pick(before, change) }, counts(before) - counts(after), duplicate);
    }
  });
}

/**
 * @param {Thread} thread
 * @param {number} badge
 * @param {boolean} duplicate whether the unified inbox counts it under another account
 */
function put(thread, badge, duplicate) {
  applyThread(thread);
  threadMoved(thread);
  moveUnread(thread.accountId, badge, duplicate ? badge : 0);
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

/** @param {Thread[]} threads @param {string} one @param {string} many */
function said(threads, one, many) {
  return threads.length === 1 ? one : `${plural(threads.length, "thread")} ${many}`;
}

/** @type {Record<string, string>} */
const UNDONE = {
  archive: "Back from the archive", unarchive: "Out of the inbox again", markUnread: "Marked as read again",
    labels: "Labels as before",
  snooze: "No longer snoozed", unsnooze: "Snoozed again", trash: "Back from the trash", spam: "Back from spam",
    mute: "No longer muted", unmute: "Muted again", block: "No longer blocked",
    unblock: "Blocked again", send: "Not sent: your message is open again",
};

/**
 * Describes an undone step. A thread that no list shows is not known before its live event arrives, so it is fetched.
 * @param {Undone} undone
 */
async function undoneWords({ what, threadIds, draftId }) {
  const both = draftId !== null && what !== "send";
  const words = both ? "Not sent, and back in the inbox" : UNDONE[what] ?? "Taken back";
  if (what === "send") return `${words}.`;
  const [first = ""] = threadIds;
  if (threadIds.length !== 1) return threadIds.length ? `${words}: ${plural(threadIds.length, "thread")}` : words;
  const thread = knownThread(first) ?? await latest(first);
  return thread?.subject ? `${words}: ${thread.subject}` : words;
}

/** @param {unknown} error */
export function reason(error) {
  return error instanceof Error ? error.message : String(error);
}
