// @ts-check
/** The actions for a file of the list: open, download, rename, delete, and undo the last delete. */
import { signal } from "@preact/signals";
import { mutate } from "../rpc.js";
import { reasonOf } from "../settings/fetched.js";
import { toast } from "../ui/toast.js";
import { canView, view } from "./viewer.js";

/** @typedef {import("./reading.js").Listed} Listed */

/** The file that is being renamed. */
export const renaming = signal(/** @type {Listed | null} */ (null));
/** The files that were deleted here, the newest last. @type {Listed[]} */
const deleted = [];
let takeNoticeAway = () => {};
/** The ids of files that are being deleted. @type {Set<string>} */
const leaving = new Set();

/** Shows a file in the app if the app can show its type; otherwise downloads it.
 * @param {Listed} file @param {Listed[]} among */
export function open(file, among) {
  const part = partOf(file);
  if (canView(part)) view(part, among.map(partOf));
  else download(file);
}

/** @param {Listed} file */
export function isShown(file) {
  return canView(partOf(file));
}

/** @param {Listed} file */
export function download(file) {
  const link = document.createElement("a");
  link.href = contentOf(file);
  link.download = file.name;
  link.click();
}

/** @param {Listed} file */
export async function remove(file) {
  if (leaving.has(file.id)) return;
  leaving.add(file.id);
  try {
    await mutate("files.delete", { id: file.id });
  } catch (error) {
    toast(`${file.name} was not deleted: ${reasonOf(error)}`, { tone: "error" });
    return;
  } finally {
    leaving.delete(file.id);
  }
  deleted.push(file);
  takeNoticeAway();
  takeNoticeAway = toast(`Deleted ${file.name}.`, { action: { label: "Undo", run: () => void bringBack() } });
}

/** Restores the file that was deleted last. */
export async function bringBack() {
  const file = deleted.pop();
  takeNoticeAway();
  if (!file) return;
  try {
    await mutate("files.restore", { id: file.id });
    toast(`${file.name} is back.`);
  } catch (error) {
    toast(`${file.name} is not back: ${reasonOf(error)}`, { tone: "error" });
  }
}

export function canBringBack() {
  return deleted.length > 0;
}

/** Called when the user signs out. */
export function forgetActions() {
  deleted.length = 0;
  renaming.value = null;
}

/** @param {{ id: string }} file */
export function contentOf({ id }) {
  return `/files/${encodeURIComponent(id)}/content`;
}

/** The same object each time, since the viewer compares them. @param {Listed} file */
function partOf(file) {
  let part = parts.get(file);
  if (!part) parts.set(file, (part = { filename: file.name, fileId: file.id, mime: file.mime, size: file.size }));
  return part;
}

/** @type {WeakMap<Listed, import("./viewer.js").Part>} */
const parts = new WeakMap();
