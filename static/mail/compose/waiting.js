// @ts-check
/**
 * Mail that waits while the server is unreachable or the session has ended: queued for sending, brought back for
 * editing, and turned into a draft again if the server refuses it later.
 */
import { act, mayPass, mayWait, onRefusal, takeBackNewest } from "../../offline/queue.js";
import { RpcError, mutate } from "../../rpc.js";
import { toast } from "../../ui/toast.js";
import { toWire } from "./wire.js";

/** @typedef {{ fields: import("./wire.js").Fields, id: string | null, version: number | null }} Written */
/** @typedef {{ openDraft: (id: string) => void, openWritten: (written: Written) => void }} Opening */

/** Whether a message that could not be saved may still be queued. @param {unknown} error */
export function mayGoLater(error) {
  return mayWait() && mayPass(error);
}

/**
 * Queues the message. Resolves to the server's answer, or to null if it waits.
 * @param {Written} written
 * @param {{ sendAt?: string, group?: string, draftVersion?: number }} how
 *   `draftVersion`: the known version of the draft; a version from another window is not overwritten
 * @param {Opening} opening
 */
export async function handOverLater({ fields, id, version }, how, opening) {
  const input = { ...toWire(fields), ...(id !== null && { draftId: id }), ...how };
  const written = { fields, id, version };
  const answer = await act("mail.send", input, written);
  if (answer) return answer;
  toast("It is sent when the server can be reached.", { action: { label: "Undo", run: () => void back(opening) } });
  return null;
}

/** Handles a queued mail that the server refuses. Called once. @param {Opening} opening */
export function startRefusedMail(opening) {
  onRefusal("mail.send", async ({ about }, why) => {
    const { fields, id, version } = /** @type {Written} */ (about);
    const draftId = await keptAsDraft(fields, id, version);
    const go = draftId === null ? () => opening.openWritten({ fields, id: null, version: null })
      : () => opening.openDraft(draftId);
    toast(`${fields.subject ? `“${fields.subject}”` : "A message"} was not sent: ${why} It is a draft again.`,
      { tone: "error", stays: true, action: { label: "Open", run: go } });
  });
}

/**
 * Saves the text as a draft on the server: over the draft it came from, else as a new one. Null if the server accepts
 * neither: the account is gone, for example.
 * @param {import("./wire.js").Fields} fields
 * @param {string | null} id
 * @param {number | null} version
 */
async function keptAsDraft(fields, id, version) {
  const known = id === null || version === null ? [] : [{ id, version }];
  for (const one of [...known, {}]) {
    try {
      return (await mutate("mail.saveDraft", { ...toWire(fields), ...one })).id;
    } catch (error) {
      if (mayPass(error) || !(error instanceof RpcError)) throw error; // it stays in the queue, and is sent again
    }
  }
  return null;
}

/** @param {Opening} opening */
async function back(opening) {
  const [taken] = await takeBackNewest(({ name }) => name === "mail.send");
  if (taken) opening.openWritten(taken.about);
  else toast("It may have reached the server already: once the server answers again, it is shown under Tasks.");
}
