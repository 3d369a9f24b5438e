// @ts-check
/**
 * What is on its way out of here: scheduled, held, being sent, in trouble. One list for the page, the notices and the
 * count.
 *
 * Fetched at the start and after a gap, moved by live events. Instants are the server's: its clock may differ from this
 * machine's, so the difference is measured and countdowns follow the server.
 */
import { computed, signal } from "@preact/signals";
import { mutate, query } from "../rpc.js";
import { toast } from "../ui/toast.js";

const SURELY_PAST_MS = 60_000;

/** Newest first, as the server gives them. */
export const outgoing = signal(/** @type {Outgoing[] | null} */ (null));
export const outgoingProblem = signal("");
/** Those that wait for the person's word. */
export const troubled = computed(() => (outgoing.value ?? []).filter(isTroubled));
/** What the shell counts: whatever still has a future. */
export const waiting = computed(() => (outgoing.value ?? []).filter((one) => isTroubled(one)
  || one.state === "scheduled"));

/** How far the server's clock is ahead of this one, in milliseconds. */
let ahead = 0;
let asked = 0;
/** Events since the request under way began; null: put away. @type {Map<string, Outgoing | null>} */
const meanwhile = new Map();
/** Sends that this tab handed over and whose end is worth a word. @type {Set<string>} */
const watched = new Set();

/** @param {Outgoing} one */
function isTroubled({ state }) {
  return state === "failed" || state === "uncertain" || state === "overdue";
}

/** The server's time, in milliseconds since the epoch. */
export function serverNow() {
  return Date.now() + ahead;
}

export async function loadOutgoing() {
  const mine = ++asked;
  const began = Date.now();
  meanwhile.clear();
  try {
    const [rows, ping] = await Promise.all([query("mail.outgoing"), query("health.ping")]);
    if (mine !== asked) return;
    ahead = Date.parse(ping.time) - (began + Date.now()) / 2;
    outgoing.value = rows;
    rows.forEach(tellOfItsEnd);
    for (const [id, row] of meanwhile) row ? put(row) : drop(id);
    outgoingProblem.value = "";
  } catch (error) {
    if (mine === asked) outgoingProblem.value = error instanceof Error ? error.message : String(error);
  }
}

/** @param {LiveEvent} event */
export function onOutgoingEvent(event) {
  const payload = /** @type {{ outgoing?: Outgoing | null } | null} */ (event.payload);
  if (payload?.outgoing) put(payload.outgoing);
  else if (payload?.outgoing === null) drop(event.id);
}

/** A message was handed over: show it, unless the server's news of it was here first. @param {Outgoing} row */
export function handedOver(row) {
  watched.add(row.id);
  const known = meanwhile.get(row.id);
  if (known) tellOfItsEnd(known);
  else if (known === undefined) put(row);
}

/** @param {Outgoing} row */
function put(row) {
  const known = outgoing.value ?? [];
  const before = known.find((one) => one.id === row.id);
  meanwhile.set(row.id, row);
  outgoing.value = before ? known.map((one) => (one.id === row.id ? row : one)) : [row, ...known];
  tellOfItsEnd(row);
}

/** @param {Outgoing} row */
function tellOfItsEnd(row) {
  if (row.state === "sent" && watched.delete(row.id)) toast(row.subject ? `Sent: ${row.subject}` : "Sent.");
}

/** @param {string} id */
function drop(id) {
  meanwhile.set(id, null);
  outgoing.value = (outgoing.value ?? []).filter((one) => one.id !== id);
}

/**
 * A time that has passed means now; the clocks' difference is known only so well. It is watched before it is asked
 * for: the news that it was sent may be here before the answer.
 * @param {string} id
 */
export async function sendNow(id) {
  watched.add(id);
  await mutate("mail.reschedule", { id, sendAt: new Date(serverNow() - SURELY_PAST_MS).toISOString() });
  await loadOutgoing();
}

/**
 * @param {string} id
 * @param {string} sendAt
 */
export async function reschedule(id, sendAt) {
  await mutate("mail.reschedule", { id, sendAt });
  await loadOutgoing();
}

/** @param {string} id */
export async function retry(id) {
  watched.add(id);
  await mutate("mail.retrySend", { id });
  await loadOutgoing();
}

/** Take it back: its words become a draft again, whose id comes back. @param {string} id */
export async function takeBack(id) {
  await mutate("mail.cancelSend", { id });
  watched.delete(id);
  const { draftId } = await query("mail.outgoingDraft", { id });
  void loadOutgoing();
  return draftId;
}

/**
 * Put away what goes nowhere any more. With `draft` its words become one, whose id comes back.
 * @param {string} id
 * @param {boolean} draft
 */
export async function dismiss(id, draft) {
  const { draftId } = await mutate("mail.dismissOutgoing", { id, draft });
  drop(id);
  return draftId;
}
