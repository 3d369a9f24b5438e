// @ts-check
/**
 * Rows that are dragged with the mouse onto a link of the navigation: a label files them, a place takes them. Each has
 * a key, too. The browser drags the link of the row, so that it can also be dropped into another tab or a text.
 *
 * What a link does with the rows follows from its address. Owns the threads that are being dragged.
 */
import { plural } from "../ui/format.js";
import { mayAct } from "./accounts.js";
import { label, star } from "./actions.js";
import { parseMailAddress } from "./address.js";
import { archiveThese, isSpam, openPicker, spamThese, toInbox, trashThese } from "./commands.js";
import { actOnAll, labelAll } from "./everything.js";
import { currentAccountId, goOn } from "./moving.js";
import { everything, isPicked, picked, pickedThreads, standForAll } from "./selection.js";

/** Tells our rows from anything else that is dragged over the page. */
const TYPE = "application/x-svc-threads";

/** @typedef {(threads: Thread[], stays: boolean) => void} Take `stays`: in the inbox, where that is a choice */

/** @type {Thread[] | null} */
let dragged = null;
/** The link below the pointer that takes them. @type {HTMLElement | null} */
let over = null;

/** Called once. */
export function startDragging() {
  addEventListener("dragstart", end, { capture: true }); // a row that left the page did not tell of its end
  addEventListener("dragover", onDragOver);
  addEventListener("drop", onDrop);
  addEventListener("dragend", end);
}

/** @param {DragEvent} event @param {Thread} thread of the row that is dragged; a picked one takes all picked along */
export function beginDrag(event, thread) {
  const whole = everything.value;
  const isPickedRow = whole?.list.get(thread.id) ? isPicked(whole.list, thread) : picked.value.has(thread.id);
  const threads = isPickedRow ? pickedThreads() : [thread];
  if (!event.dataTransfer || !threads.every(({ accountId }) => mayAct(accountId))) return;
  dragged = threads;
  event.dataTransfer.effectAllowed = "all";
  event.dataTransfer.setData(TYPE, "");
  const image = document.createElement("div");
  image.className = "drag-image";
  image.textContent = threads.length === 1 ? thread.subject || "(no subject)"
    : standForAll(threads) ? "All that match" : plural(threads.length, "thread");
  document.body.append(image);
  event.dataTransfer.setDragImage(image, -12, -12);
  setTimeout(() => image.remove()); // the browser has drawn it
}

/** @param {DragEvent} event */
function onDragOver(event) {
  if (!dragged || !event.dataTransfer?.types.includes(TYPE)) return;
  const at = placeAt(event);
  mark(at?.link ?? null);
  if (!at) return;
  event.dataTransfer.dropEffect = at.mayStay && stays(event) ? "copy" : "move";
  event.preventDefault();
}

/** @param {DragEvent} event */
function onDrop(event) {
  const [threads, at] = [dragged, placeAt(event)];
  end();
  if (!threads || !at || !event.dataTransfer?.types.includes(TYPE)) return;
  event.preventDefault();
  at.take(threads, stays(event));
}

function end() {
  dragged = null;
  mark(null);
}

/** As in the file managers: with Ctrl, on a Mac with Alt, it is a copy. @param {DragEvent} event */
function stays({ ctrlKey, altKey }) {
  return ctrlKey || altKey;
}

/** @param {HTMLElement | null} link */
function mark(link) {
  if (over === link) return;
  over?.classList.remove("dragged-over");
  over = link;
  over?.classList.add("dragged-over");
}

/**
 * The link of the navigation below the pointer, and what it does with threads. Another account's inbox takes none: a
 * mail stays in its account.
 * @param {DragEvent} event
 */
function placeAt({ target }) {
  const link = target instanceof Element ? target.closest("nav a[href]") : null;
  if (!(link instanceof HTMLAnchorElement)) return null;
  const place = parseMailAddress(new URL(link.href));
  if (!place || place.accountId !== currentAccountId()) return null;
  const take = takeOf(place.view);
  return take && { link, take, mayStay: place.view.kind === "label" && !isPlace(place.view.name) };
}

/** @param {import("./address.js").View} view @returns {Take | null} */
function takeOf(view) {
  if (view.kind === "sections") return (threads) => only(threads, (one) => !one.inInbox, toInbox);
  if (view.kind === "all") return archiveThese;
  if (view.kind === "snoozed") return (threads) => openPicker("snooze", threads);
  if (view.kind !== "label") return null;
  if (isPlace(view.name)) return PLACES[view.name.toLowerCase()] ?? null;
  return (threads, keeps) => file(threads, view.name, !keeps);
}

/** @type {Record<string, Take | null>} */
const PLACES = {
  starred: (threads) => only(threads, (one) => !one.starred, (those) =>
    (standForAll(those) ? actOnAll("star") : void star(those, true))),
  spam: (threads) => only(threads, (one) => !isSpam(one), (those) =>
    (standForAll(those) ? actOnAll("spam") : spamThese(those))),
  trash: (threads) => only(threads, (one) => one.labels.every(({ id }) => id !== "TRASH"), trashThese),
  sent: null, // the server decides what was sent
};

/** @param {string} label */
function isPlace(label) {
  return Object.hasOwn(PLACES, label.toLowerCase());
}

/**
 * Runs it for those that it changes; for all that match, if it changes any that is loaded.
 * @param {Thread[]} threads
 * @param {(thread: Thread) => boolean} changes
 * @param {(threads: Thread[]) => void} step
 */
function only(threads, changes, step) {
  const those = threads.filter(changes);
  if (those.length) step(standForAll(threads) ? threads : those);
}

/** @param {Thread[]} threads @param {string} name @param {boolean} archives */
function file(threads, name, archives) {
  const wanted = name.toLowerCase();
  const lacks = (/** @type {Thread} */ one) => one.labels.every((mine) => mine.name.toLowerCase() !== wanted);
  only(threads, (one) => lacks(one) || (archives && one.inInbox), (those) => {
    if (standForAll(those)) void labelAll(name, true, { file: archives });
    else goOn(those, () => label(those, name, true, { file: archives }));
  });
}
