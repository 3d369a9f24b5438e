// @ts-check
/** The state of an outgoing message, in plain words. Pure. */
import { whenWords } from "../mail/compose/when.js";

/**
 * @param {Outgoing} row
 * @param {number} nowMs the server's time
 * @returns {{ title: string, text: string, tone: "calm" | "busy" | "bad" }}
 */
export function wordsFor(row, nowMs) {
  const now = new Date(nowMs);
  const due = row.sendAt ? whenWords(new Date(row.sendAt), now) : "soon";
  switch (row.state) {
    case "scheduled":
      if (row.attempts) return { title: "Will be tried again", text: retried(row, now), tone: "busy" };
      if (row.sendAt === null || Date.parse(row.sendAt) <= nowMs) return { title: "Going out", text: "It is next.",
        tone: "busy" };
      return { title: "Scheduled", text: `Goes out ${due}${inWords(row.sendAt, nowMs)}.`, tone: "calm" };
    case "held":
      return { title: "Going out", text: "In a few seconds. It can still be taken back.", tone: "busy" };
    case "transmitting":
      return { title: "Being sent", text: "It is being handed to the mail provider.", tone: "busy" };
    case "overdue":
      return { title: "Waits for your decision",
        text: `It was due ${due}, while this computer slept or the server was off. ` +
          "That is more than 12 hours ago: does it still hold?", tone: "bad" };
    case "failed":
      return { title: "Not sent",
        text: `${sentence(row.lastError ?? "The mail provider did not take it.")}${row.attempts > 1
          ? ` Tried ${row.attempts} times.` : ""}`, tone: "bad" };
    case "uncertain":
      return { title: "Perhaps sent",
        text: "The connection broke while it was handed over, and the provider’s answer never came. If it turns up " +
          "among your sent mail, this settles itself.", tone: "bad" };
    case "cancelled":
      return { title: "Taken back", text: "It was not sent.", tone: "calm" };
    default:
      return { title: "Sent", text: `Sent ${whenWords(new Date(row.sendAt ?? row.createdAt), now)}.`, tone: "calm" };
  }
}

/** @param {Outgoing} row @param {Date} now */
function retried(row, now) {
  const next = row.nextAttemptAt ? ` Next attempt ${whenWords(new Date(row.nextAttemptAt), now)}.` : "";
  return `${sentence(row.lastError ?? "It could not be sent yet.")}${next} Tried ${row.attempts} of 10 times.`;
}

/** ", in 2 days" @param {string | null} instant @param {number} nowMs */
function inWords(instant, nowMs) {
  const minutes = instant === null ? 0 : Math.round((Date.parse(instant) - nowMs) / 60_000);
  if (minutes < 1) return "";
  if (minutes < 100) return `, in ${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `, in ${hours} h` : `, in ${Math.round(hours / 24)} days`;
}

/** @param {string} text */
function sentence(text) {
  return /[.!?…]$/u.test(text) ? text : `${text}.`;
}
