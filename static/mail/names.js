// @ts-check
/**
 * What people are called in rows and cards: by the title of their page, their name, their address; whose app this is,
 * "me".
 */
import { computed } from "@preact/signals";
import { plural } from "../ui/format.js";
import { accounts } from "./accounts.js";
import { isOwn, ownAddressesOf } from "./own_addresses.js";

const NAMES_SHOWN = 3;

const spelled = computed(() =>
  [...ownAddressesOf((accounts.value ?? []).filter((one) => one.access === "own"))].join("\n"));
/** The addresses of the accounts, all that each has; another set only when they are others. */
export const ownAddresses = computed(() => new Set(spelled.value.split("\n").filter(Boolean)));

/** @param {string} address */
export function isMe(address) {
  return isOwn(address, ownAddresses.value);
}

/** Who wrote last, as a row calls them. @param {Thread} thread */
export function senderOf({ sender, sent }) {
  return isMe(sender.address) || sent?.sender === sender.address ? "me" : titleOf(sender);
}

/** "To Noa, Ivo and 3 others", as a row of Sent or Drafts says it. @param {OwnMessage} own */
export function recipientsOf({ to, others }) {
  return to.length ? `To ${listed(to.map((one) => (isMe(one.address) ? "me" : titleOf(one))), others)}`
    : "To nobody yet";
}

/** @param {Person} person */
export function nameOf(person) {
  return isMe(person.address) ? "me" : person.name || person.address || "(unknown sender)";
}

/** The first few, and how many more; "me" once. @param {string[]} called @param {number} [others] besides these */
export function listed(called, others = 0) {
  const names = called.filter((one, at) => one !== "me" || called.indexOf(one) === at);
  const more = Math.max(0, names.length - NAMES_SHOWN) + others;
  return `${names.slice(0, NAMES_SHOWN).join(", ")}${more > 0 ? ` and ${plural(more, "other")}` : ""}`;
}

/** @param {Person & { title?: string | null }} person */
function titleOf({ title, name, address }) {
  return title || name || address || "(unknown sender)";
}
