// @ts-check
/** The drafts that are kept, newest first, as a signal; fetched at the start and after a gap, moved by live events. */
import { computed, signal } from "@preact/signals";
import { query } from "../../rpc.js";

const known = signal(/** @type {DraftRow[]} */ ([]));
/** Thrown away a moment ago, with a way back: still at the server, not shown. */
const leaving = signal(/** @type {string[]} */ ([]));
export const drafts = computed(() => known.value.filter((one) => !leaving.value.includes(one.id)));
/** The threads that a draft is about: their rows say so. */
export const drafted = computed(() => new Set(drafts.value.map(({ threadId }) => threadId)));
let asked = 0;

/** @param {LiveEvent} event */
export function onDraftEvent(event) {
  const payload = /** @type {{ draft?: DraftRow | null } | null} */ (event.payload);
  if (payload?.draft === undefined) return;
  asked += 1; // an answer under way is older
  const others = known.value.filter((one) => one.id !== event.id);
  known.value = payload.draft ? [payload.draft, ...others] : others;
}

/** @param {string} id @param {boolean} hidden */
export function hideDraft(id, hidden) {
  const others = leaving.value.filter((one) => one !== id);
  leaving.value = hidden ? [...others, id] : others;
}

/** Only the newest answer is shown. A failure (null) leaves what is shown: the next change asks again. */
export async function loadDrafts() {
  const mine = ++asked;
  try {
    const found = await query("mail.drafts");
    if (mine === asked) known.value = found;
    return found;
  } catch {
    return null; // nothing that a person is waiting for
  }
}
