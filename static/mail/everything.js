// @ts-check
/**
 * Steps on all matching threads: the server stores and counts the matches, and does one action on them as one step.
 *
 * The loaded rows change at once. A large step runs on at the server; until it is done its list fetches no more pages,
 * since the rows would only leave again. Owns the running steps.
 */
import { batch, signal } from "@preact/signals";
import { mutate, query } from "../rpc.js";
import { number, plural } from "../ui/format.js";
import { toast } from "../ui/toast.js";
import { inOrder, offerUndo, pretend, reason, withDuplicates } from "./actions.js";
import { makeLabel } from "./labels.js";
import { goOn, listShown } from "./moving.js";
import { patchOf } from "./relabel.js";
import { clearPicks, currentList, everything, holdsMore, picked, pickedList, pickedThreads, pickLoaded, pickWhole
  } from "./selection.js";

/** @typedef {import("./lists.js").ThreadList} ThreadList */
/** @typedef {MailActOnAllInput["do"]} Do */
/** @typedef {{ label?: string, until?: string, words?: string }} How */

/** The list whose matches are being counted. */
export const counting = signal(/** @type {ThreadList | null} */ (null));
/** Whether an action waits for the count. */
export const actsNext = signal(false);
/** The picks when the count began: others end it. @type {ReadonlySet<string> | null} */
let countedFor = null;
/** The action that waits for the count. @type {(() => void) | null} */
let next = null;
/** The running steps, by id. @type {import("@preact/signals").Signal<ReadonlyMap<string, BulkStep>>} */
export const acting = signal(new Map());

/** The paused lists, by the id of the step that was started here. @type {Map<string, ThreadList>} */
const waiting = new Map();

/**
 * The effect of each action: as the procedure call for single threads, so that rows show it at once, and in words.
 * @type {Record<Do, { row: [string, object], doing: string, done: string, failure: string }>}
 */
const ACTS = {
  archive: { row: ["mail.archive", {}], doing: "Archiving", done: "archived", failure: "Could not archive" },
  inbox: { row: ["mail.unarchive", {}], doing: "Moving to the inbox", done: "moved to the inbox",
    failure: "Could not move to the inbox" },
  read: { row: labels([], ["UNREAD"]), doing: "Marking as read", done: "marked as read",
    failure: "Could not mark as read" },
  unread: { row: ["mail.markUnread", {}], doing: "Marking as unread", done: "marked as unread",
    failure: "Could not mark as unread" },
  star: { row: labels(["STARRED"], []), doing: "Starring", done: "starred", failure: "Could not star" },
  unstar: { row: labels([], ["STARRED"]), doing: "Taking stars away", done: "without a star",
    failure: "Could not take the stars away" },
  label: { row: ["mail.setLabels", {}], doing: "Labelling", done: "labelled", failure: "Could not label" },
  unlabel: { row: ["mail.setLabels", {}], doing: "Taking the label away", done: "without the label",
    failure: "Could not take the label away" },
  file: { row: labels([], ["INBOX"]), doing: "Filing", done: "archived with the label", failure: "Could not file" },
  snooze: { row: ["mail.snooze", {}], doing: "Snoozing", done: "snoozed", failure: "Could not snooze" },
  mute: { row: ["mail.mute", {}], doing: "Muting", done: "muted", failure: "Could not mute" },
  unmute: { row: ["mail.unmute", {}], doing: "Unmuting", done: "no longer muted", failure: "Could not unmute" },
  spam: { row: labels(["SPAM"], ["INBOX"]), doing: "Moving to spam", done: "moved to spam",
    failure: "Could not report as spam" },
  trash: { row: labels(["TRASH"], ["INBOX"]), doing: "Moving to the trash", done: "moved to the trash",
    failure: "Could not delete" },
};

/**
 * Each press picks more: the loaded rows, all that match, nothing.
 * @param {ThreadList | null} [list] without it, the list of the selected row
 */
export function pickMore(list = currentList()) {
  if (!list) return;
  if (everything.value?.list === list) clearPicks();
  else if (picked.value.size === 0 || pickedList() !== list) pickLoaded(list);
  else if (holdsMore(list)) void pickEverything(list);
  else clearPicks();
}

/** Asks the server to store and count all that match. @param {ThreadList} list */
export async function pickEverything(list) {
  const before = picked.value;
  if (countedFor === before || list.source.all === null) return;
  drop();
  countedFor = before;
  counting.value = list;
  try {
    const newest = list.rows.reduce((last, row) => (list.timeOf(row) > last ? list.timeOf(row) : last), "");
    const { id, count, complete, accountIds, leftOut } = await mutate("mail.selectAll", list.source.all);
    if (picked.value === before) pickWhole({ id, list, count, complete, accountIds, leftOut, newest });
  } catch (error) {
    if (countedFor === before) {
      toast(`Could not pick all: ${reason(error)}${next ? " Nothing was changed." : ""}`, { tone: "error" });
      next = null; // this notice tells of it
    }
  } finally {
    if (countedFor === before) counted();
  }
}

/**
 * Runs an action on the picked threads; while all that match are being counted, after the count. It is dropped, with a
 * notice, if other threads are picked meanwhile. Only the first action waits: a second press changes nothing.
 * @param {() => void} run
 */
export function onceCounted(run) {
  if (countedFor === null || countedFor !== picked.value || !listShown()) run();
  else if (next === null) {
    next = run;
    actsNext.value = true;
  }
}

function counted() {
  const run = everything.value && listShown() ? next : null;
  countedFor = null;
  batch(() => {
    counting.value = null;
    if (run) next = null;
    drop();
  });
  run?.();
}

/** The list is left, and its picks with it. */
export function leaveList() {
  drop("you left the list before its threads were counted.");
  clearPicks();
}

/** Ends the wait of an action that no longer fits the picks. If nothing is picked, the person has cleared the picks. */
function drop(why = "the picked threads are no longer those of your action.") {
  if (next && picked.value.size) toast(`Nothing was changed: ${why}`);
  next = null;
  actsNext.value = false;
}

/** @param {Do} what @param {How} [how] `words`: the end of the snooze, in words */
export function actOnAll(what, how = {}) {
  const whole = everything.value;
  if (whole) goOn(pickedThreads(), () => void begin(whole, what, how));
}

/**
 * Adds a label to all that match, or removes it; created first in an account that has none of that name.
 * @param {string} name
 * @param {boolean} on
 * @param {{ color?: string | undefined, file?: boolean }} [how]
 */
export async function labelAll(name, on, { color, file = false } = {}) {
  const whole = everything.value;
  if (!whole) return;
  try {
    if (on) await Promise.all(whole.accountIds.map((accountId) => makeLabel(accountId, name, color)));
    if (everything.value === whole) actOnAll(on ? (file ? "file" : "label") : "unlabel", { label: name });
  } catch (error) {
    toast(`Could not label: ${reason(error)}`, { tone: "error" });
  }
}

/**
 * @param {import("./selection.js").Everything} whole
 * @param {Do} what
 * @param {How} how
 */
async function begin(whole, what, { label, until, words }) {
  const act = ACTS[what];
  const [name, told] = act.row;
  const said = { ...told, until, ...(what === "unlabel" ? { removeNames: [label] } : label ? { addNames: [label] } : {})
    };
  const { list } = whole;
  const takeBack = pretend(withDuplicates(pickedThreads()), (thread) => patchOf(thread, name, said));
  list.paused = !list.complete;
  const dropMine = offerUndo(`${plural(whole.count, "thread")} ${act.done}${label ? ` “${label}”` : ""}${words
    ? ` until ${words}` : ""}`);
  try {
    const step = await inOrder(() => mutate("mail.actOnAll", { id: whole.id, do: what, ...(label && { label }),
      ...(until && { until }) }));
    waiting.set(step.id, list);
    stepChanged(step);
  } catch (error) {
    takeBack();
    dropMine();
    list.paused = false;
    toast(`${act.failure}: ${reason(error)}`, { tone: "error" });
  }
}

/** Counts the steps that ended. */
let ends = 0;

/** Takes over the progress of a step from the server. @param {BulkStep} step */
export function stepChanged(step) {
  const isAtWork = step.state === "working" || step.state === "undoing";
  const known = acting.value.get(step.id);
  if (isAtWork && known?.state === step.state && isBehind(step, known)) return; // an older answer
  const next = new Map(acting.value);
  if (isAtWork) next.set(step.id, step);
  else next.delete(step.id);
  if (isAtWork || known) acting.value = next;
  if (isAtWork) return;
  ends += 1;
  ended(step);
}

/** @param {BulkStep} step @param {BulkStep} known */
function isBehind(step, known) {
  return step.state === "working" ? step.taken < known.taken : step.taken > known.taken;
}

/** @param {BulkStep} step */
function ended({ id, state, passed }) {
  const list = waiting.get(id);
  if (!list) return;
  waiting.delete(id);
  list.paused = false;
  void list.refetch();
  if (state === "done" && passed) {
    toast(`${plural(passed, "thread")} left alone: new mail came to them, or they may not be changed.`);
  }
}

/** Fetches the running steps; others that were known have ended meanwhile. */
export async function loadActing() {
  try {
    const before = ends;
    const found = await query("mail.acting");
    if (ends !== before) return void loadActing(); // an answer from before an end would bring its step back
    acting.value = new Map(found.map((step) => [step.id, step]));
    for (const id of [...waiting.keys()]) {
      if (!acting.value.has(id)) ended({ id, do: null, state: "stopped", total: 0, taken: 0, passed: 0 });
    }
  } catch {
    // After the next gap in the live updates they are fetched again.
  }
}

/** Stops a step. What it has done stays, and can be undone. @param {BulkStep} step */
export async function stop(step) {
  try {
    stepChanged(await mutate("mail.stopActing", { id: step.id }));
    toast(`Stopped after ${plural(step.taken, "thread")}. Undo takes those back.`);
  } catch (error) {
    toast(`Could not stop: ${reason(error)}`, { tone: "error" });
  }
}

/** The action of a step and its progress, in words. @param {BulkStep} step */
export function progressWords({ do: what, state, taken, total }) {
  if (state === "undoing") return `Taking back: ${plural(taken, "thread")} left`;
  return `${what ? ACTS[what].doing : "At work"}: ${number(taken)} of ${plural(total, "thread")}`;
}

/**
 * @param {string[]} add
 * @param {string[]} remove
 * @returns {[string, object]}
 */
function labels(add, remove) {
  return ["mail.setLabels", { add, remove }];
}
