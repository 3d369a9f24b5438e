// @ts-check
/**
 * What the keys, the bar of picked threads, the toolbar of a thread and the palette do: one table of commands for all.
 */
import { signal } from "@preact/signals";
import { navigate } from "../router.js";
import { FILTERS, SECTIONS_VIEW, mailPath } from "./address.js";
import { split } from "../ui/media.js";
import { toast } from "../ui/toast.js";
import {
  archive, markRead, markUnread, mute, onUndo, reportSpam, restore, snooze, star, trash, unarchive, undo, unsnooze,
} from "./actions.js";
import { composeKeys, openDraft } from "./compose/compose.js";
import { connectOpen } from "./connect.js";
import { latest } from "./details.js";
import { FILTER_KEYS, FILTER_WORDS } from "./filters.js";
import { applyThread } from "./lists.js";
import { MAX_PICKED, pickAll, pickTo, picked, select, selectedId, selectedThread, togglePick } from "./selection.js";
import {
  back, canGoBack, current, currentAccountId, escape, goOn, goesToNext, listShown, move, narrowTo, openId, openSelected,
    pickOn, targets, toggleAfter,
} from "./moving.js";

/** Which dialog is open, and for which threads. */
export const picker = signal(/** @type {{ kind: "label" | "snooze", threads: Thread[] } | null} */ (null));
/** Moves when the search field should take the focus. */
export const searchWanted = signal(0);

/** Archive; with nothing in the inbox there is nothing to do. @param {Thread[]} threads */
export function archiveThese(threads) {
  const inside = threads.filter((one) => one.inInbox);
  if (inside.length) goOn(threads, () => archive(inside));
}

/** Wherever they are now: archived, snoozed, spam or trash. An open one stays open. @param {Thread[]} threads */
export function toInbox(threads) {
  const step = threads.some((one) => one.snoozedUntil !== null) ? unsnooze : threads.some((one) => one.hidden) ? restore
    : unarchive;
  if (threads.some((one) => one.id === openId())) void step(threads);
  else goOn(threads, () => step(threads));
}

/** @param {Thread[]} threads */
export function trashThese(threads) {
  goOn(threads, () => trash(threads));
}

/** Spam, or no spam after all. @param {Thread[]} threads */
export function spamThese(threads) {
  goOn(threads, () => (threads.every(isSpam) ? restore(threads) : reportSpam(threads)));
}

/** Mute, or hear of it again. An open thread that is unmuted stays open. @param {Thread[]} threads */
export function muteThese(threads) {
  if (threads.every((one) => one.muted)) void mute(threads, false);
  else goOn(threads, () => mute(threads, true));
}

/** @param {Thread[]} threads */
export function starThese(threads) {
  void star(threads, !threads.every((one) => one.starred));
}

/** Unread, and back to the list if it is open: it would be read at once again. @param {Thread[]} threads */
export function unreadThese(threads) {
  void markUnread(threads);
  if (threads.some((one) => one.id === openId())) back();
}

/** @param {Thread[]} threads */
export function readThese(threads) {
  void markRead(threads);
}

/** @param {Thread[]} threads @param {string} until @param {string} words */
export function snoozeThese(threads, until, words) {
  goOn(threads, () => snooze(threads, until, words));
}

/** @param {"label" | "snooze"} kind @param {Thread[]} threads */
export function openPicker(kind, threads) {
  if (threads.length) picker.value = { kind, threads };
}

/** Take back, and go to what is back. */
export async function undoAndShow() {
  const undone = await undo();
  if (!undone) return;
  const [first] = undone.threadIds;
  const open = openId();
  if (undone.draftId !== null) await openDraft(undone.draftId);
  else if (open === null && first !== undefined) await selectWhereItIs(first);
  else if (open !== null && split.value) select(open, { focus: true }); // the notice that had the focus is gone
}

/** The news of it may come after the answer: until then its row stands where it stood before. @param {string} id */
async function selectWhereItIs(id) {
  const thread = await latest(id);
  if (thread) applyThread(thread);
  if (openId() === null) select(id, { focus: true });
}
onUndo.run = () => void undoAndShow();

/** @param {Thread} thread */
function isSpam(thread) {
  return thread.labels.some(({ id }) => id === "SPAM");
}

/** @param {(threads: Thread[]) => void} run */
function onTargets(run) {
  return () => {
    const threads = targets();
    if (threads.length) run(threads);
  };
}

function toggleRead() {
  const threads = targets();
  if (threads.length) (threads.some((one) => one.unread) ? readThese : unreadThese)(threads);
}

function pickSelected() {
  const thread = selectedThread();
  if (thread) togglePick(thread.id);
}

function pickSection() {
  const count = pickAll();
  if (count === MAX_PICKED) toast(`The newest ${MAX_PICKED} are picked: as many as one step takes.`);
}

/** @param {import("./address.js").View} view */
function goTo(view) {
  return () => navigate(mailPath(currentAccountId(), null, view));
}

const hasTargets = () => picked.value.size > 0 || current() !== null;

/** @type {import("../keys.js").Shortcut[]} */
export const SHORTCUTS = [
  { keys: ["j"], label: "Select the next thread", run: () => move(1), repeats: true },
  { keys: ["k"], label: "Select the previous thread", run: () => move(-1), repeats: true },
  { keys: ["Enter"], label: "Open the selected thread", run: openSelected, when: () => openId() === null },
  { keys: ["u", "Escape"], label: "Back to the list", run: escape, when: () => canGoBack() || picked.value.size > 0 },
  { keys: ["e"], label: "Archive the selected or open thread", run: onTargets(archiveThese), when: hasTargets },
  { keys: ["x"], label: "Pick the thread for a step on many", run: pickSelected, when: listShown },
  { keys: ["J"], label: "Pick, and go on to the next", run: () => pickOn(1), repeats: true, when: listShown },
  { keys: ["K"], label: "Pick, and go back to the previous", run: () => pickOn(-1), repeats: true, when: listShown },
  { keys: ["X"], label: "Pick all from the one picked last", run: () => selectedId.value !== null
    && pickTo(selectedId.value), when: listShown },
  { keys: ["*"], label: "Pick the whole section, or nothing", run: pickSection, when: listShown },
  { keys: ["s"], label: "Star, or take the star away", run: onTargets(starThese), when: hasTargets },
  { keys: ["l"], label: "Labels", run: onTargets((threads) => openPicker("label", threads)), when: hasTargets },
  { keys: ["h"], label: "Snooze", run: onTargets((threads) => openPicker("snooze", threads)), when: hasTargets },
  { keys: ["m"], label: "Mute: new messages skip the inbox; or unmute", run: onTargets(muteThese), when: hasTargets },
  { keys: ["U"], label: "Mark as read or unread", run: toggleRead, when: hasTargets },
  { keys: ["#"], label: "Delete", run: onTargets(trashThese), when: hasTargets },
  { keys: ["!"], label: "Spam, or not spam", run: onTargets(spamThese), when: hasTargets },
  { keys: ["i"], label: "Move to the inbox", run: onTargets(toInbox), when: hasTargets },
  { keys: ["z"], label: "Undo", run: () => void undoAndShow() },
  ...composeKeys(() => openId() ?? selectedThread()?.id ?? null, currentAccountId),
  { keys: ["/"], label: "Search", run: () => { searchWanted.value += 1; } },
  ...FILTERS.map((only) => ({ keys: [FILTER_KEYS[only]], label: `Show only ${FILTER_WORDS[only]}, or all again`,
    run: () => narrowTo(only) })),
  { keys: ["g i"], label: "Go to the inbox", run: goTo(SECTIONS_VIEW) },
  { keys: ["g s"], label: "Go to starred", run: goTo({ kind: "label", name: "Starred" }) },
  { keys: ["g z"], label: "Go to snoozed", run: goTo({ kind: "snoozed" }) },
  { keys: ["g a"], label: "Go to all mail", run: goTo({ kind: "all" }) },
  { keys: ["g t"], label: "Go to sent", run: goTo({ kind: "label", name: "Sent" }) },
];

/** What the palette offers besides the keys. */
export function otherCommands() {
  return [
    { id: "connect", label: "Connect another account", run: () => { connectOpen.value = true; } },
    {
      id: "after",
      label: goesToNext() ? "After archiving: go back to the list" : "After archiving: open the next thread",
      run: () => void toast(toggleAfter() ? "The next thread opens after archiving."
        : "The list comes back after archiving."),
    },
  ];
}

/** @type {import("./thread.js").ThreadCommands} */
export const COMMANDS = {
  back,
  move,
  archive: (thread) => archiveThese([thread]),
  toInbox: (thread) => toInbox([thread]),
  markUnread: (thread) => unreadThese([thread]),
  star: (thread) => starThese([thread]),
  trash: (thread) => trashThese([thread]),
  spam: (thread) => spamThese([thread]),
  mute: (thread) => muteThese([thread]),
  pick: (kind, thread) => openPicker(kind, [thread]),
};
