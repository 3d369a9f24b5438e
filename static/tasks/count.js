// @ts-check
/** The number of items in the task queue, for the navigation. */
import { approvals } from "../runs/approvals.js";
import { plural } from "../ui/format.js";
import { outgoing, troubled, waiting } from "./outgoing.js";

/**
 * The number of mails and decisions that are scheduled, on their way or waiting.
 * @returns {import("../feature.js").NavCount | null}
 */
export function tasksCount() {
  const asked = approvals.value?.length ?? 0;
  const n = waiting.value.length + asked;
  const bad = troubled.value.length + asked;
  if (!n) return null;
  const parts = [n - bad > 0 && `${n - bad} scheduled`, bad > 0 && `${plural(bad, "needs", "need")} your decision`];
  return { n, words: `${n}: ${parts.filter(Boolean).join(", ")}`, bad: bad > 0 };
}

/** The number of scheduled mails. @returns {import("../feature.js").NavCount | null} */
export function scheduledCount() {
  const n = (outgoing.value ?? []).filter((one) => one.state === "scheduled").length;
  return n ? { n, words: plural(n, "message") } : null;
}
