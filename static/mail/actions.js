// @ts-check
/**
 * What a person does with threads: shown at once, told to the server, taken back with a notice if that fails.
 *
 * Steps are told one after the other, so that the server's undo log has them in the person's order. Where all accounts
 * stand together a step is also for a thread's duplicates: the same mail in other accounts, in the same call.
 */
import { batch } from "@preact/signals";
import { liveState } from "../live.js";
import { act, onRefusal, queue, takeBackNewest } from "../offline/queue.js";
import { mutate } from "../rpc.js";
import { mailPlace } from "./address.js";
import { plural } from "../ui/format.js";
import { toast } from "../ui/toast.js";
import { mayAct, moveUnread } from "./accounts.js";
import { latest, opened, refetchDetails, threadMoved } from "./details.js";
import { labelNamed, makeLabel } from "./labels.js";
import { applyThread, knownThread, refetchLists } from "./lists.js";
import { relabelled } from "./relabel.js";
import { welcome } from "./returned.js";

/** As many threads as the server takes in one call. */
const MAX_A_CALL = 500;
/** @typedef {import("./relabel.js").SystemLabel} SystemLabel */
/**
 * As much of a step as one call takes; `group` is the same for all calls of one step, so that undo takes it back whole.
 * @typedef {{ threadIds: string[], group?: string }} Part
 */
/**
 * @typedef {object} Step
 * @property {(thread: Thread) => Partial<Thread>} patch how it will be
 * @property {(part: Part) => Promise<unknown>} tell
 * @property {string} failure
 * @property {string} [done] said with a way back, once it is shown
 */

/** The steps that are being told. @type {Promise<unknown>} */
let told = Promise.resolve();
/** Takes away the notice that offers to undo: another step is the newest now. */
let dropOffer = () => {};
/** How the newest step is taken back where the server does not know of it yet. @type {(() => void) | null} */
let takeBackHere = null;

/**
 * Resolves to whether it went well; so do the others. `group`: of the steps that are taken back with it; `quiet`: what
 * it was done with offers the way back.
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

/** Out of the inbox, and their new messages with them; or so no more. @param {Thread[]} threads @param {boolean} on */
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
  });
}

/** @param {Thread[]} threads */
export function markRead(threads) {
  return setSystem(threads, [], ["UNREAD"], "Could not mark as read");
}

/** @param {Thread[]} threads @param {boolean} on */
export function star(threads, on) {
  return setSystem(threads, on ? ["STARRED"] : [], on ? [] : ["STARRED"], on ? "Could not star"
    : "Could not take the star away");
}

/** @param {Thread[]} threads */
export function trash(threads) {
  return setSystem(threads, ["TRASH"], ["INBOX"], "Could not delete",
    said(threads, "Moved to the trash", "moved to the trash"));
}

/** @param {Thread[]} threads */
export function reportSpam(threads) {
  return setSystem(threads, ["SPAM"], ["INBOX"], "Could not report as spam",
    said(threads, "Moved to spam", "moved to spam"));
}

/** Out of spam or trash, back to the inbox. @param {Thread[]} threads */
export function restore(threads) {
  return setSystem(threads, ["INBOX"], ["SPAM", "TRASH"], "Could not move to the inbox",
    said(threads, "Moved to the inbox", "moved to the inbox"));
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
 * Put a label of a person's own on threads, or take it away. Labels are each account's own: in an account that has none
 * of that name it is made first.
 * @param {Thread[]} threads
 * @param {string} name
 * @param {boolean} on
 * @param {{ color?: string | undefined, file?: boolean }} [how] `file`: and archive them, in the same step
 */
export async function label(threads, name, on, { color, file = false } = {}) {
  const accountIds = [...new Set(withTwins(threads).map(({ accountId }) => accountId))];
  const failure = on ? `Could not put “${name}” on it` : `Could not take “${name}” away`;
  const worn = (/** @type {string} */ accountId) => threads.find((one) => one.accountId === accountId)?.labels.find(
    (one) => one.name === name) ?? null;
  let made = accountIds.map((accountId) => labelNamed(accountId, name) ?? worn(accountId));
  try {
    if (on && made.includes(null)) {
      made = await Promise.all(accountIds.map((accountId) => makeLabel(accountId, name, color)));
    }
  } catch (error) {
    toast(`${failure}: ${reason(error)}`, { tone: "error" });
    return false;
  }
  const here = new Map(accountIds.map((accountId, index) => [accountId, made[index] ?? null]));
  return run(threads, {
    patch: (thread) => {
      const mine = here.get(thread.accountId);
      if (!mine) return {};
      const others = thread.labels.filter((one) => one.id !== mine.id);
      const labels = on ? [...others, mine] : others;
      return file ? relabelled({ ...thread, labels }, [], ["INBOX"]) : { labels };
    },
    tell: (part) => act("mail.setLabels", { ...part, ...(on ? { addNames: [name] } : { removeNames: [name] }),
      ...(file && { remove: ["INBOX"] }) }),
    failure,
    done: file ? said(threads, `Archived as “${name}”`, `archived as “${name}”`)
      : on ? said(threads, `Labelled “${name}”`, `labelled “${name}”`)
      : said(threads, `“${name}” taken away`, `without “${name}”`),
  });
}

/** Reading marks as read; a failure is not worth a word, the next opening tries again. @param {Thread} thread */
export async function markOpened(thread) {
  welcome(thread.id);
  if (!thread.unread) return;
  const all = withTwins([thread]);
  if (!mayAct(thread.accountId)) return;
  const takeBack = pretend(all, (one) => relabelled(one, [], ["UNREAD"]));
  try {
    await Promise.all(all.map(({ id }) => act("mail.open", { threadId: id })));
  } catch {
    takeBack();
  }
}

/** Take back the newest step, whenever and wherever it was taken. Resolves to what that was, once it is said. */
export async function undo() {
  dropOffer();
  if (takeBackHere) {
    const run = takeBackHere;
    takeBackHere = null;
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
    const words = undone ? await undoneWords(undone) : "There is nothing to take back.";
    dropOffer();
    dropOffer = toast(words);
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

/** The newest step waits to be told: it never happens. @returns {Promise<Undone>} */
async function undoWaiting() {
  const taken = await takeBackNewest(isStep);
  const [newest] = taken;
  if (!newest) throw new Error("it may have reached the server already. Try again once that can be reached.");
  refetchLists();
  refetchDetails();
  const what = newest.name === "mail.setLabels" ? "labels" : newest.name.replace("mail.", "");
  return { id: "", what, threadIds: taken.flatMap(({ input }) => input.threadIds), draftId: null };
}

/** A step that waited was refused: what is shown is wrong, and the person is told. Called once. */
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

/** What follows when the notice of a step is asked to take it back; the page says. */
export const onUndo = { run: () => void undo() };

/**
 * @param {Thread[]} threads
 * @param {SystemLabel[]} add
 * @param {SystemLabel[]} remove
 * @param {string} failure
 * @param {string} [done]
 */
function setSystem(threads, add, remove, failure, done) {
  const patch = (/** @type {Thread} */ thread) => relabelled(thread, add, remove);
  return run(threads, { patch, tell: (part) => act("mail.setLabels", { ...part, add, remove }), failure,
    ...(done && { done }) });
}

/**
 * @param {Thread[]} threads
 * @param {Step} step
 */
async function run(threads, { patch, tell, failure, done }) {
  const all = withTwins(threads);
  if (threads.some(({ accountId }) => !mayAct(accountId))) {
    toast(`${failure}: it is shared with you to read.`, { tone: "error" });
    return false;
  }
  const takeBack = pretend(all, patch);
  const dropMine = offerUndo(done);
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

/** Another step is the newest now; where there are words for it, with a way back. @param {string} [done] */
export function offerUndo(done) {
  dropOffer();
  takeBackHere = null;
  if (done) dropOffer = toast(done, { action: { label: "Undo", run: () => onUndo.run() } });
  return dropOffer;
}

/**
 * The same for what is done only a while later: until then `run` takes it back. Returns what ends that.
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
 * Tell a step after those before it.
 * @template T
 * @param {() => Promise<T>} tell
 */
export function inOrder(tell) {
  const mine = told.then(tell);
  told = mine.catch(() => undefined);
  return mine;
}

/** A name for steps that are taken back together. */
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
 * The threads, each with its duplicates where all accounts stand together; those that the person may act on.
 * @param {Thread[]} threads
 * @returns {{ id: string, accountId: string, duplicate: boolean }[]}
 */
export function withTwins(threads) {
  const unified = (mailPlace.value?.accountId ?? null) === null;
  const all = threads.flatMap((thread) => [
    { id: thread.id, accountId: thread.accountId, duplicate: false },
    ...(unified ? thread.twins.map(({ threadId, accountId }) => ({ id: threadId, accountId, duplicate: true })) : []),
  ]);
  return [...new Map(all.map((one) => [one.id, one])).values()].filter(({ accountId }) => mayAct(accountId));
}

/**
 * Show the threads as they will be. Returns what takes it back, if nothing newer came from the server meanwhile.
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
 * @param {boolean} duplicate whether Unified counts it under another account
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

/** A thread that comes back from where no list shows it is not known before the news of it. @param {Undone} undone */
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
