// @ts-check
/** The palette's commands of mail besides its keys and its places: mailboxes, labels, and actions without a key. */
import { navigate } from "../router.js";
import { accounts } from "./accounts.js";
import { mailPath, mailPlace } from "./address.js";
import { askToBlock, blockable } from "./blocking.js";
import { otherCommands } from "./commands.js";
import { composeBlank } from "./compose/compose.js";
import { composition } from "./compose/current.js";
import { ownLabels } from "./labels.js";
import { threadsAtHand } from "./lists.js";
import { matches } from "./matching.js";
import { snippets } from "./snippets/store.js";
import { askUnsubscribe, mailingOpen } from "./unsubscribe.js";

/** @typedef {import("../feature.js").Command} Command */
/** @typedef {import("./snippets/store.js").Snippet} Snippet */

const MIN_TYPED_CHARS = 2;
/** The number of rows of each list that are searched. */
const MAX_AT_HAND = 300;
const MAX_THREADS = 5;

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
    ...snippetCommands(),
    ...blocking(),
  ];
}

/** @returns {Command[]} */
function unsubscribing() {
  const message = mailingOpen();
  if (!message) return [];
  const name = message.from.name || message.from.address;
  return [{ id: "unsubscribe", label: `Unsubscribe from ${name}`, run: () => void askUnsubscribe(message.id) }];
}

/** Inserts a snippet into the open message, else into a new one. @returns {Command[]} */
function snippetCommands() {
  const put = composition.value?.putSnippet ?? ((/** @type {Snippet} */ snippet) => composeBlank({ snippet }));
  return (snippets.value ?? []).map((one) =>
    ({ id: `snippet ${one.name}`, label: one.name, group: "Snippet", run: () => put(one) }));
}

/** @returns {Command[]} */
function blocking() {
  const message = blockable();
  return message ? [{ id: "block", label: `Block ${message.from.address}`, run: () => askToBlock(message) }] : [];
}

/** @param {string} id @param {string} label @param {string} to @param {string} group @returns {Command} */
function going(id, label, to, group) {
  return { id, label, group, href: to, run: () => navigate(to) };
}

/**
 * Loaded threads that match, the newest first: people often return to what they have just seen.
 * @param {string} text
 * @returns {Promise<Command[]>}
 */
export async function lookup(text) {
  if (text.length < MIN_TYPED_CHARS) return [];
  const here = mailPlace.value?.accountId ?? null;
  return threadsAtHand(MAX_AT_HAND)
    .filter(({ hidden, subject, sender }) => !hidden && matches(`${subject} ${sender.name} ${sender.address}`, text))
    .slice(0, MAX_THREADS)
    .map(({ id, subject, sender }) => ({
      ...going(`thread ${id}`, subject || "(no subject)", mailPath(here, id), "Mail"),
      hint: sender.title || sender.name || sender.address,
    }));
}
