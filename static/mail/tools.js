// @ts-check
/** The actions on threads of a list: one table for the bar of picked threads, and for a row's buttons and menu. */
import { archiveThese, isSpam, muteThese, openPicker, readThese, spamThese, starThese, toInbox, trashThese, unreadThese
  } from "./commands.js";
import { everything, standForAll } from "./selection.js";
import { hasNothingInInbox } from "./sources.js";

/**
 * @typedef {object} Tool
 * @property {string} icon
 * @property {string} label
 * @property {string} keys the name of the command that does the same, as in keys.js
 * @property {(threads: Thread[]) => void} run
 * @property {(threads: Thread[]) => boolean} [when] whether it does anything with them
 * @property {{ label: string, when: (threads: Thread[]) => boolean }} [back] its name when it reverts the action
 * @property {boolean} [atRow] whether a row under the mouse has a button for it
 */

/** @type {Tool[]} */
const TOOLS = [
  { icon: "archive", label: "Archive", keys: "Mail e", run: archiveThese, atRow: true, when: (threads) =>
    threads.some((one) => one.inInbox) },
  { icon: "inbox", label: "Move to the inbox", keys: "Mail i", run: toInbox, atRow: true, when: (threads) =>
    threads.every((one) => !one.inInbox) },
  { icon: "read", label: "Mark as read", keys: "Mail U", run: readThese, atRow: true, when: (threads) =>
    threads.some((one) => one.unread) },
  { icon: "unread", label: "Mark as unread", keys: "Mail U", run: unreadThese, atRow: true, when: (threads) =>
    threads.every((one) => !one.unread) },
  { icon: "label", label: "Labels", keys: "Mail l", run: (threads) => openPicker("label", threads) },
  { icon: "clock", label: "Snooze", keys: "Mail h", run: (threads) => openPicker("snooze", threads), atRow: true },
  { icon: "mute", label: "Mute", keys: "Mail m", run: muteThese, back: { label: "Unmute", when: (threads) =>
    threads.every((one) => one.muted) } },
  { icon: "trash", label: "Delete", keys: "Mail #", run: trashThese },
  { icon: "star", label: "Star", keys: "Mail s", run: starThese, atRow: true, back: { label: "Take the star away",
    when: (threads) => threads.every((one) => one.starred) } },
  { icon: "spam", label: "Report as spam", keys: "Mail !", run: spamThese, back: { label: "Not spam", when: (threads) =>
    threads.every(isSpam) } },
];

/** @param {Thread[]} threads */
export function toolsFor(threads) {
  if (standForAll(threads)) return toolsForAll(threads);
  const usable = TOOLS.filter((one) => one.when?.(threads) ?? true);
  return usable.map((one) => (one.back?.when(threads) ? { ...one, label: one.back.label } : one));
}

/**
 * The tools for all that match. Only some of the threads are loaded, so they can't show what makes sense for the
 * others: all tools are offered, except where the list itself rules one out.
 * @param {Thread[]} threads
 */
function toolsForAll(threads) {
  const place = everything.value?.list.name;
  const usable = TOOLS.filter(({ icon }) => !(icon === "archive" && place && hasNothingInInbox(place))
    && !(icon === "inbox" && place === "inbox"));
  return usable.map((one) => (one.back?.when(threads) ? { ...one, label: one.back.label } : one));
}

/** @param {string} icon @param {Thread} thread */
export function useTool(icon, thread) {
  TOOLS.find((one) => one.icon === icon)?.run([thread]);
}
