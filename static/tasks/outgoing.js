// @ts-check
/**
 * Outgoing mail: scheduled, held, being sent, in trouble. One list for the page, the notices and the count.
 *
 * Fetched at the start and after a gap, updated by live events. Times are the server's: its clock may differ from this
 * machine's, so the difference is measured and countdowns follow the server.
 */
import { computed, signal } from "@preact/signals";
import { mutate, query } from "../rpc.js";
import { toast } from "../ui/toast.js";

const SURELY_PAST_MS = 60_000;

/** The outgoing mails, newest first, as the server returns them. */
export const outgoing = signal(/** @type {Outgoing[] | null} */ (null));
export const outgoingProblem = signal("");
/** The mails that wait for a decision of the person. */
export const troubled = computed(() => (outgoing.value ?? []).filter(isTroubled));
/** The mails that the navigation counts: all that are not finished. */
export const waiting = computed(() => (outgoing.value ?? []).filter((one) => isTroubled(one)
  || one.state === "scheduled"));

/** How far the server's clock is ahead of this one, in milliseconds. */
let ahead = 0;
let asked = 0;
/** Events since the current request began; null: dismissed. @type {Map<string, Outgoing | null>} */
const meanwhile = new Map();
/** The mails that this tab has sent, whose result is shown in a notice. @type {Set<string>} */
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
  else if (payload?.outgoing === null) withdrawn(event.id);
}

/**
 * A mail is not shown any more: somebody has dismissed it, or this person may not act in its account any more. In the
 * second case the mail was waiting, and is not sent.
 * @param {string} id
 */
function withdrawn(id) {
  const row = outgoing.value?.find((one) => one.id === id);
  drop(id);
  if (row && (row.state === "held" || row.state === "scheduled" || row.state === "overdue")) {
    toast(`Not sent: ${row.subject || row.to[0] || "your mail"}. You may not send from that account any more.`,
      { tone: "error" });
  }
}

/**
 * Shows a message that was passed on for sending, unless the server's event of it was here first.
 * @param {Outgoing} row
 */
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
 * Sends a mail now. A time in the past means now, because the clocks' difference is not exact. The mail is watched
 * before the request: the event that it was sent may arrive before the answer.
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

/** Takes a mail back: its text becomes a draft again; resolves to the draft's id. @param {string} id */
export async function takeBack(id) {
  await mutate("mail.cancelSend", { id });
  watched.delete(id);
  const { draftId } = await query("mail.outgoingDraft", { id });
  void loadOutgoing();
  return draftId;
}

/**
 * Dismisses a mail that will not be sent. With `draft` its text becomes a draft; resolves to the draft's id.
 * @param {string} id
 * @param {boolean} draft
 */
export async function dismiss(id, draft) {
  const { draftId } = await mutate("mail.dismissOutgoing", { id, draft });
  drop(id);
  return draftId;
}
