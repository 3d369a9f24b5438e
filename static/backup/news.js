// @ts-check
/** News of backups from /ws. Owns the count by which an open page knows that it is old. */
import { signal } from "@preact/signals";
import { toast } from "../ui/toast.js";

/** How often something was told. */
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
