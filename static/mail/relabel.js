// @ts-check
/** Computes how a thread's row changes with the provider's labels. Pure. */

const SYSTEM_NAMES = { INBOX: "Inbox", UNREAD: "Unread", STARRED: "Starred", SPAM: "Spam", TRASH: "Trash" };

/** @typedef {keyof typeof SYSTEM_NAMES} SystemLabel */

/**
 * @param {Thread} thread
 * @param {SystemLabel[]} add
 * @param {SystemLabel[]} remove
 * @returns {Partial<Thread>}
 */
export function relabelled(thread, add, remove) {
  const changed = new Set(/** @type {string[]} */ ([...add, ...remove]));
  const labels = [...thread.labels.filter(({ id }) => !changed.has(id)),
    ...add.map((id) => ({ id, name: SYSTEM_NAMES[id], color: null }))];
  const leaves = add.includes("SPAM") || add.includes("TRASH");
  return {
    labels,
    ...((changed.has("INBOX") || leaves) && { inInbox: add.includes("INBOX") }),
    ...(changed.has("UNREAD") && { unread: add.includes("UNREAD") }),
    ...(changed.has("STARRED") && { starred: add.includes("STARRED") }),
    ...((changed.has("SPAM") || changed.has("TRASH")) && { hidden: leaves }),
  };
}

/**
 * The row after the server has done this procedure.
 * @param {Thread} thread
 * @param {string} name of the procedure
 * @param {any} said
 */
export function rowAfter(thread, name, said) {
  if (!(said.threadIds ?? [said.threadId]).includes(thread.id)) return thread;
  return { ...thread, ...patchOf(thread, name, said) };
}

/**
 * The changes of a thread's row by this procedure.
 * @param {Thread} thread
 * @param {string} name
 * @param {any} said
 * @returns {Partial<Thread>}
 */
export function patchOf(thread, name, said) {
  switch (name) {
    case "mail.open":
      return relabelled(thread, [], ["UNREAD"]);
    case "mail.markUnread":
      return relabelled(thread, ["UNREAD"], []);
    case "mail.archive":
      return relabelled(thread, [], ["INBOX"]);
    case "mail.unarchive":
      return { ...relabelled(thread, ["INBOX"], ["SPAM", "TRASH"]), snoozedUntil: null, muted: false };
    case "mail.mute":
      return { ...relabelled(thread, [], ["INBOX"]), muted: true };
    case "mail.unmute":
      return { muted: false };
    case "mail.snooze":
      return { ...relabelled(thread, [], ["INBOX"]), snoozedUntil: said.until };
    case "mail.unsnooze":
      return { ...relabelled(thread, ["INBOX"], []), snoozedUntil: null };
    case "mail.setLabels":
      return byNames({ ...thread, ...relabelled(thread, said.add ?? [], said.remove ?? []) }, said);
    default:
      return {};
  }
}

/**
 * The changes by a person's own labels.
 * @param {Thread} thread
 * @param {{ addNames?: string[], removeNames?: string[] }} said
 */
function byNames(thread, { addNames = [], removeNames = [] }) {
  const named = new Set([...addNames, ...removeNames]);
  const labels = [...thread.labels.filter(({ name }) => !named.has(name)),
    ...addNames.map((name) => ({ id: name, name, color: null }))];
  return { ...thread, labels };
}
