// @ts-check
/** Live events of the followed repository. Owns the counter that shows an open status that its data is old. */
import { signal } from "@preact/signals";

/** The number of events so far. */
export const changes = signal(0);

export function onGitopsNews() {
  changes.value += 1;
}
