// @ts-check
/**
 * The names of people in rows and cards: the title of their page, else their name, else their address; the current user
 * is "me".
 */
import { computed } from "@preact/signals";
import { plural } from "../ui/format.js";
import { accounts } from "./accounts.js";
import { isOwn, ownAddressesOf } from "./own_addresses.js";

const NAMES_SHOWN = 3;

const spelled = computed(() =>
  [...ownAddressesOf((accounts.value ?? []).filter((one) => one.access === "own"))].join("\n"));
/** All addresses of the accounts; the set is replaced only when its content changes. */
export const ownAddresses = computed(() => new Set(spelled.value.split("\n").filter(Boolean)));

/** @param {string} address */
export function isMe(address) {
  return isOwn(address, ownAddresses.value);
}

/**
 * The writers of a thread for its row: "Sam, Tomás, me". First names if there are several, but full names for mailing
 * lists and shops; of more than three the first and the last two.
 * @param {Thread} thread
 */
export function writersOf(thread) {
  const own = accounts.value?.find(({ id }) => id === thread.accountId)?.access === "own";
  /** @type {{ whole: string, first: string }[]} */
  const people = [];
  for (const writer of thread.writers ?? []) { // a copy kept for offline use may be older
    const whole = isMe(writer.address) || (own && writer.own) ? "me" : titleOf(writer);
    if (!people.some((one) => one.whole === whole)) people.push({ whole, first: firstName(whole, writer) });
  }
  if (people.length < 2) return people[0]?.whole ?? senderOf(thread);
  const called = people.map((one) => (people.some((other) => other !== one && other.first === one.first)
    ? withInitial(one) : one.first));
  return called.length > NAMES_SHOWN ? `${called[0]} … ${called.slice(-2).join(", ")}` : called.join(", ");
}

const ORGANIZATION =
  /\d|[@&|/]|^the\b|\b(?:gmbh|ag|inc|ltd|llc|team|support|service|shop|store|news|info|newsletter)\b/i;
const HONORIFIC = /^(?:dr|prof|mr|mrs|ms|herr|frau|dipl|ing|mag)\.? /i;
const MAX_NAME_WORDS = 4;

/**
 * @param {string} name
 * @param {Thread["writers"][number]} writer
 */
function firstName(name, { bulk, address, title, name: given }) {
  if (name === "me" || bulk || (title && title !== given)) return name; // the user chose the title of the page
  if (name === address) return address.split("@")[0] || name;
  const words = nameWords(name);
  return ORGANIZATION.test(name) || words.length > MAX_NAME_WORDS ? name : words[0] ?? name;
}

/** The words of a name: "Brandt, Noa" is Noa Brandt; a title such as "Dr." is left out. @param {string} name */
function nameWords(name) {
  const [last = "", first = ""] = name.split(",", 2);
  return `${first} ${last}`.trim().replace(HONORIFIC, "").split(/\s+/).filter(Boolean);
}

/** The first name with an initial, to distinguish two Sams. @param {{ whole: string, first: string }} person */
function withInitial({ whole, first }) {
  const last = nameWords(whole).at(-1);
  return first === whole || !last || last === first ? whole : `${first} ${[...last][0]}.`;
}

/** The last writer, as a row shows the name. @param {Thread} thread */
export function senderOf({ sender, sent }) {
  return isMe(sender.address) || sent?.sender === sender.address ? "me" : titleOf(sender);
}

/** "To Noa, Ivo and 3 others", for a row of Sent or Drafts. @param {OwnMessage} own */
export function recipientsOf({ to, others }) {
  return to.length ? `To ${listed(to.map((one) => (isMe(one.address) ? "me" : titleOf(one))), others)}`
    : "To nobody yet";
}

/** @param {Person} person */
export function nameOf(person) {
  return isMe(person.address) ? "me" : person.name || person.address || "(unknown sender)";
}

/**
 * The first few names, and the number of others; "me" once.
 * @param {string[]} called
 * @param {number} [others] besides these
 */
export function listed(called, others = 0) {
  const names = called.filter((one, at) => one !== "me" || called.indexOf(one) === at);
  const more = Math.max(0, names.length - NAMES_SHOWN) + others;
  return `${names.slice(0, NAMES_SHOWN).join(", ")}${more > 0 ? ` and ${plural(more, "other")}` : ""}`;
}

/** @param {Person & { title?: string | null }} person */
function titleOf({ title, name, address }) {
  return title || name || address || "(unknown sender)";
}
