// @ts-check
/** The commands of mail: one table for the keys, the bar of picked threads, the toolbar of a thread and the palette. */
import { signal } from "@preact/signals";
import { isTyping } from "../keys.js";
import { navigate } from "../router.js";
import { FILTERS, SECTIONS_VIEW, mailPath } from "./address.js";
import { split } from "../ui/media.js";
import { toast } from "../ui/toast.js";
import {
  archive, markRead, markUnread, mute, onUndo, reportSpam, restore, snooze, star, trash, unarchive, undo, unsnooze,
} from "./actions.js";
import { WRITING_KEYS, composeKeys, openDraft } from "./compose/compose.js";
import { checkMail } from "./checking.js";
import { connectOpen } from "./connect.js";
import { latest } from "./details.js";
import { actOnAll, onceCounted, pickMore } from "./everything.js";
import { FILTER_KEYS, FILTER_WORDS } from "./filters.js";
import { applyThread } from "./lists.js";
import { everything, openLists, pickTo, picked, select, selectedId, selectedThread, standForAll, togglePick
  } from "./selection.js";
import { hasNothingInInbox } from "./sources.js";
import {
  back, canGoBack, current, currentAccountId, currentView, escape, goOn, goesToNext, listShown, move, moveToEnd,
    narrowTo, openId, openSelected, pickOn, targets, toggleAfter,
} from "./moving.js";
import { KINDS, KIND_KEYS, KIND_WORDS } from "./kinds.js";
import { correct } from "./triage.js";
import { askToLeave, mailingOpen } from "./unsubscribe.js";

/** Which dialog is open, and for which threads. */
export const picker = signal(/** @type {{ kind: "label" | "snooze", threads: Thread[] } | null} */ (null));
/** Changes when the search field should take the focus. */
export const searchWanted = signal(0);

/** Archives threads; does nothing if none is in the inbox. @param {Thread[]} threads */
export function archiveThese(threads) {
  if (standForAll(threads)) return archiveAll();
  const inside = threads.filter((one) => one.inInbox);
  if (inside.length) goOn(threads, () => archive(inside));
}

/**
 * Archives everything in a list. No thread of some lists is in the inbox: there the step would change nothing and still
 * be offered for undo.
 */
function archiveAll() {
  const list = everything.value?.list;
  if (list && hasNothingInInbox(list.name)) toast(`Nothing of ${list.title} is in the inbox.`);
  else actOnAll("archive");
}

/**
 * Moves threads to the inbox, from the archive, snoozed, spam or trash. An open one stays open.
 * @param {Thread[]} threads
 */
export function toInbox(threads) {
  if (standForAll(threads)) return actOnAll("inbox");
  const step = threads.some((one) => one.snoozedUntil !== null) ? unsnooze : threads.some((one) => one.hidden) ? restore
    : unarchive;
  if (threads.some((one) => one.id === openId())) void step(threads);
  else goOn(threads, () => step(threads));
}

/** @param {Thread[]} threads */
export function trashThese(threads) {
  if (standForAll(threads)) return actOnAll("trash");
  goOn(threads, () => trash(threads));
}

/** Marks threads as spam, or as not spam. @param {Thread[]} threads */
export function spamThese(threads) {
  if (standForAll(threads)) return actOnAll(threads.every(isSpam) ? "inbox" : "spam");
  goOn(threads, () => (threads.every(isSpam) ? restore(threads) : reportSpam(threads)));
}

/** Mutes or unmutes threads. An open thread that is unmuted stays open. @param {Thread[]} threads */
export function muteThese(threads) {
  if (standForAll(threads)) return actOnAll(threads.every((one) => one.muted) ? "unmute" : "mute");
  if (threads.every((one) => one.muted)) void mute(threads, false);
  else goOn(threads, () => mute(threads, true));
}

/** @param {Thread[]} threads */
export function starThese(threads) {
  if (standForAll(threads)) return actOnAll(threads.every((one) => one.starred) ? "unstar" : "star");
  void star(threads, !threads.every((one) => one.starred));
}

/**
 * Marks threads as unread. An open one closes, since it would be marked as read again at once.
 * @param {Thread[]} threads
 */
export function unreadThese(threads) {
  if (standForAll(threads)) return actOnAll("unread");
  void markUnread(threads);
  if (threads.some((one) => one.id === openId())) back();
}

/** @param {Thread[]} threads */
export function readThese(threads) {
  if (standForAll(threads)) return actOnAll("read");
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

/** The selection when undo was pressed last. Any other was made by the person since then. @type {string | null} */
let leftAt = null;

/** Undoes the newest step, and goes to the thread that is back, unless the person goes elsewhere meanwhile. */
export async function undoAndShow() {
  leftAt = selectedId.value;
  const list = listHere();
  const undone = await undo();
  if (!undone) return;
  const [first] = undone.threadIds;
  const open = openId();
  if (undone.draftId !== null) await openDraft(undone.draftId);
  else if (open === null && first !== undefined) await selectWhereItIs(first, list);
  else if (open !== null && split.value) select(open, { focus: !isTyping() }); // the notice that had the focus is gone
}

/**
 * Selects the thread in its list. Its live event may arrive after the answer: until then its row is at the old place.
 * @param {string} id
 * @param {string} list the address at which the person pressed undo
 */
async function selectWhereItIs(id, list) {
  const thread = await latest(id);
  if (thread) applyThread(thread);
  if (openId() !== null || selectedId.value !== leftAt || listHere() !== list) return;
  leftAt = id;
  select(id, { focus: !isTyping() });
}
onUndo.run = () => void undoAndShow();

const listHere = () => mailPath(currentAccountId(), null, currentView());

/** @param {Thread} thread */
export function isSpam(thread) {
  return thread.labels.some(({ id }) => id === "SPAM");
}

/** @param {(threads: Thread[]) => void} run */
function onTargets(run) {
  return () => onceCounted(() => {
    const threads = targets();
    if (threads.length) run(threads);
  });
}

/** @param {Thread[]} threads */
function toggleRead(threads) {
  (threads.some((one) => one.unread) ? readThese : unreadThese)(threads);
}

/** @param {import("./kinds.js").Kind} kind */
function setKind(kind) {
  return onTargets((threads) => {
    if (standForAll(threads)) toast("A kind is set for threads that you pick, not yet for all that match.");
    else void correct(threads.map(({ id }) => id), kind);
  });
}

function pickSelected() {
  const thread = selectedThread();
  if (thread) togglePick(thread.id);
}

/** Opens the menu at the selected row, as the menu key does: for all picked threads if the row is one of them. */
function openMenu() {
  document.querySelector(".lists .row.selected")?.dispatchEvent(new MouseEvent("contextmenu",
    { bubbles: true, cancelable: true }));
}

/** @param {import("./address.js").View} view */
function goTo(view) {
  return () => navigate(mailPath(currentAccountId(), null, view));
}

/** Only in the list: in a thread these keys scroll the text. */
const inList = () => openId() === null;
const hasSelected = () => selectedThread() !== null;
const hasRows = () => openLists().some((list) => list.rows.length > 0);
const inListWithRows = () => inList() && hasRows();
const hasTargets = () => picked.value.size > 0 || current() !== null;

/** @typedef {import("../keys.js").Shortcut} Shortcut */

/**
 * Sets the heading of shortcuts in the overlay.
 * @param {string} part
 * @param {Shortcut[]} shortcuts
 * @returns {Shortcut[]}
 */
const under = (part, shortcuts) => shortcuts.map((one) => ({ ...one, part }));

/** @type {Shortcut[]} */
export const SHORTCUTS = [
  ...under("what one uses most", [
    { keys: ["j"], label: "Select the next thread", run: () => move(1), repeats: true },
    { keys: ["ArrowDown"], label: "Select the next thread", run: () => move(1), repeats: true, when: inList },
    { keys: ["k"], label: "Select the previous thread", run: () => move(-1), repeats: true },
    { keys: ["ArrowUp"], label: "Select the previous thread", run: () => move(-1), repeats: true, when: inList },
    { keys: ["Enter"], label: "Open the selected thread", run: openSelected,
      when: () => inList() && hasSelected() },
    { keys: ["u", "Escape"], label: "Back to the list", run: escape, when: () => canGoBack() || picked.value.size > 0 },
    { keys: ["e"], label: "Archive the selected or open thread", acts: true, also: ["done", "file away"],
      run: onTargets(archiveThese), when: hasTargets },
    ...composeKeys(() => openId() ?? selectedThread()?.id ?? null, currentAccountId),
    { keys: ["/"], label: "Search", also: ["find", "look for"], run: () => { searchWanted.value += 1; } },
    { keys: ["z"], label: "Undo", also: ["take back", "revert"], run: () => void undoAndShow() },
  ]),
  ...under("with a thread", [
    { keys: ["h"], label: "Snooze", acts: true, also: ["later", "remind me", "postpone"],
      run: onTargets((threads) => openPicker("snooze", threads)), when: hasTargets },
    { keys: ["s"], label: "Star, or take the star away", acts: true, also: ["flag", "favourite"],
      run: onTargets(starThese), when: hasTargets },
    { keys: ["l"], label: "Labels", acts: true, also: ["tag", "folder", "move to"],
      run: onTargets((threads) => openPicker("label", threads)), when: hasTargets },
    { keys: ["U"], label: "Mark as read or unread", acts: true, also: ["seen", "unseen"],
      run: onTargets(toggleRead), when: hasTargets },
    { keys: ["#"], label: "Delete", acts: true, also: ["trash", "bin", "remove"],
      run: onTargets(trashThese), when: hasTargets },
    { keys: ["i"], label: "Move to the inbox", acts: true, also: ["restore", "unarchive"],
      run: onTargets(toInbox), when: hasTargets },
    { keys: ["m"], label: "Mute: new messages skip the inbox; or unmute", acts: true, also: ["ignore", "silence"],
      run: onTargets(muteThese), when: hasTargets },
    { keys: ["!"], label: "Spam, or not spam", acts: true, also: ["junk", "report"],
      run: onTargets(spamThese), when: hasTargets },
    { keys: ["Mod+u"], label: "Unsubscribe from the open mailing", acts: true,
      also: ["leave the list", "newsletter", "opt out"],
      run: askToLeave, when: () => openId() !== null
      && mailingOpen() !== null },
    { keys: ["."], label: "All that can be done with the thread: its menu", run: openMenu, when: () => inList()
      && hasSelected() },
  ]),
  ...under("with several", [
    { keys: ["x"], label: "Pick the thread for a step on many", run: pickSelected,
      when: () => listShown() && hasSelected() },
    { keys: ["J"], label: "Pick, and go on to the next", run: () => pickOn(1), repeats: true, when: listShown },
    { keys: ["K"], label: "Pick, and go back to the previous", run: () => pickOn(-1), repeats: true, when: listShown },
    { keys: ["X"], label: "Pick all from the one picked last", run: () => selectedId.value !== null
      && pickTo(selectedId.value), when: () => listShown() && hasSelected() },
    { keys: ["*", "Mod+a"], label: "Pick what is loaded; again: all that match; again: nothing", run: () => pickMore(),
      when: () => listShown() && hasRows() },
  ]),
  ...under("while you write", WRITING_KEYS),
  ...under("go to, and show less", [
    { keys: ["g i"], label: "Go to the inbox", run: goTo(SECTIONS_VIEW) },
    { keys: ["g s"], label: "Go to starred", run: goTo({ kind: "label", name: "Starred" }) },
    { keys: ["g z"], label: "Go to snoozed", run: goTo({ kind: "snoozed" }) },
    { keys: ["g d"], label: "Go to drafts", run: goTo({ kind: "drafts" }) },
    { keys: ["g t"], label: "Go to sent", run: goTo({ kind: "label", name: "Sent" }) },
    { keys: ["g a"], label: "Go to all mail", run: goTo({ kind: "all" }) },
    { keys: ["Home"], label: "Select the first thread", run: () => moveToEnd(1), when: inListWithRows },
    { keys: ["End"], label: "Select the last thread that is loaded", run: () => moveToEnd(-1),
      when: inListWithRows },
    ...FILTERS.map((only) => ({ keys: [FILTER_KEYS[only]], label: `Show only ${FILTER_WORDS[only]}, or all again`,
      run: () => narrowTo(only), when: () => currentView().kind !== "drafts" })),
  ]),
];

/** While triage is on: keys that set the kind of a thread. @type {import("../keys.js").Shortcut[]} */
export const TRIAGE_SHORTCUTS = KINDS.map((one) => ({ keys: [KIND_KEYS[one]], label: `Kind: ${KIND_WORDS[one]}`,
  run: setKind(one), when: hasTargets }));

/** The commands of the palette that have no key. */
export function otherCommands() {
  return [
    { id: "check", label: "Check for new mail", run: () => void checkMail(null) },
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
