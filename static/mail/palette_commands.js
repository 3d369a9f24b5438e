// @ts-check
/** What the palette offers of mail besides its keys and its places: mailboxes, labels, and what has no key. */
import { navigate } from "../router.js";
import { accounts } from "./accounts.js";
import { mailPath, mailPlace } from "./address.js";
import { otherCommands } from "./commands.js";
import { ownLabels } from "./labels.js";
import { askUnsubscribe, mailingOpen } from "./unsubscribe.js";

/** @typedef {import("../feature.js").Command} Command */

/** @returns {Command[]} */
export function paletteCommands() {
  const here = mailPlace.value?.accountId ?? null;
  return [
    going("unified", "Unified", mailPath(null), "Mailbox"),
    ...(accounts.value ?? []).map(({ id, address }) => going(`account ${id}`, address, mailPath(id), "Mailbox")),
    ...ownLabels(here).map(({ name }) =>
      going(`label ${name}`, name, mailPath(here, null, { kind: "label", name }), "Label")),
    ...otherCommands(),
    ...unsubscribing(),
  ];
}

/** @returns {Command[]} */
function unsubscribing() {
  const message = mailingOpen();
  if (!message) return [];
  const name = message.from.name || message.from.address;
  return [{ id: "unsubscribe", label: `Unsubscribe from ${name}`, run: () => void askUnsubscribe(message.id) }];
}

/** @param {string} id @param {string} label @param {string} to @param {string} group @returns {Command} */
function going(id, label, to, group) {
  return { id, label, group, run: () => navigate(to) };
}
