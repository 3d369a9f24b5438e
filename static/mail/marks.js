// @ts-check
/** A small mark for each account, for lists of several accounts: a letter and one of a few tones. */
import { computed } from "@preact/signals";
import { accounts } from "./accounts.js";

const TONES = 6;
const UNKNOWN = { letter: "?", tone: 0, address: "another account" };

/** As text, so that rows are not redrawn whenever a badge changes. */
const addresses = computed(() => JSON.stringify((accounts.value ?? []).map(({ id, address }) => ({ id, address }))));
/** Account id -> its mark. Two accounts with the same first letter also show the letter of their host. */
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
