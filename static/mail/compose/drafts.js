// @ts-check
/** The saved drafts, newest first, as a signal; fetched at the start and after a gap, updated by live events. */
import { computed, signal } from "@preact/signals";
import { query } from "../../rpc.js";

const known = signal(/** @type {DraftRow[]} */ ([]));
/** Drafts that were just discarded and can be restored: still on the server, but hidden. */
const leaving = signal(/** @type {string[]} */ ([]));
export const drafts = computed(() => known.value.filter((one) => !leaving.value.includes(one.id)));
/** The threads that have a draft: their rows show it. */
export const drafted = computed(() => new Set(drafts.value.map(({ threadId }) => threadId)));
let asked = 0;

/** @param {LiveEvent} event */
export function onDraftEvent(event) {
  const payload = /** @type {{ draft?: DraftRow | null } | null} */ (event.payload);
  if (payload?.draft === undefined) return;
  asked += 1; // the answer under way is out of date
  const others = known.value.filter((one) => one.id !== event.id);
  known.value = payload.draft ? [payload.draft, ...others] : others;
}

/** @param {string} id @param {boolean} hidden */
export function hideDraft(id, hidden) {
  const others = leaving.value.filter((one) => one !== id);
  leaving.value = hidden ? [...others, id] : others;
}

/**
 * Fetches the drafts; only the newest answer is shown. After a failure (null) the list stays as it is: the next change
 * fetches again.
 */
export async function loadDrafts() {
  const mine = ++asked;
  try {
    const found = await query("mail.drafts");
    if (mine === asked) known.value = found;
    return found;
  } catch {
    return null; // no person waits for it
  }
}
