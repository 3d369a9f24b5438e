// @ts-check
/** The drafts that are kept, newest first, as a signal; fetched at the start and whenever one may have changed. */
import { signal } from "@preact/signals";
import { query } from "../../rpc.js";

export const drafts = signal(/** @type {DraftRow[]} */ ([]));
let asked = 0;

/** Only the newest answer counts. A failure leaves what is shown: the next change asks again. */
export async function loadDrafts() {
  const mine = ++asked;
  try {
    const found = await query("mail.drafts");
    if (mine === asked) drafts.value = found;
  } catch {
    // Nothing that a person is waiting for.
  }
}
