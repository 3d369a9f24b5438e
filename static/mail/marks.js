// @ts-check
/** A small sign for each account, for rows in which several stand together: a letter and one of a few tones. */
import { computed } from "@preact/signals";
import { accounts } from "./accounts.js";

const TONES = 6;
const UNKNOWN = { letter: "?", tone: 0, address: "another account" };

/** As a text, so that rows are not drawn anew whenever a badge moves. */
const addresses = computed(() => JSON.stringify((accounts.value ?? []).map(({ id, address }) => ({ id, address }))));
/** Account id -> its sign. Two accounts with one first letter show their host's as well. */
const marks = computed(() => {
  const known = /** @type {{ id: string, address: string }[]} */ (JSON.parse(addresses.value));
  const first = (/** @type {string} */ text) => (text[0] ?? "?").toUpperCase();
  const letters = known.map(({ address }) => first(address));
  return new Map(
    known.map(({ id, address }, index) => {
      const letter = letters[index] ?? "?";
      const shared = letters.indexOf(letter) !== letters.lastIndexOf(letter);
      const host = first(address.split("@")[1] ?? "");
      return [id, { letter: shared ? `${letter}${host.toLowerCase()}` : letter, tone: index % TONES, address }];
    }),
  );
});

/** @param {string} accountId */
export function accountMark(accountId) {
  return marks.value.get(accountId) ?? UNKNOWN;
}
