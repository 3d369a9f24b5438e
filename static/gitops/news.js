// @ts-check
/** News of the followed repository from /ws. Owns the count by which an open status knows that it is old. */
import { signal } from "@preact/signals";

/** How often something was told. */
export const changes = signal(0);

export function onGitopsNews() {
  changes.value += 1;
}
