// @ts-check
/** Live events of backups. Owns the counter that shows an open page that its data is old. */
import { signal } from "@preact/signals";
import { toast } from "../ui/toast.js";

/** The number of events so far. */
export const changes = signal(0);

/** @param {LiveEvent} event */
export function onBackupNews(event) {
  changes.value += 1;
  const { problem } = /** @type {{ problem?: string | null }} */ (event.payload ?? {});
  if (problem) toast(`Backup: ${problem}.`);
}

export function onBackupGap() {
  changes.value += 1;
}
