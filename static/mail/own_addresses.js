// @ts-check
/**
 * Decides which addresses are the person's own, and from which of them a mail is sent. The same rules as
 * `svc/mail/accounts/own_addresses.py`.
 */

/** @typedef {Pick<Account, "address" | "addresses">} Addressed */

/** The addresses that an account may send from; the account's own address is first. @param {Addressed} account */
export function sendable({ address, addresses = [] }) {
  const others = addresses.filter((one) => one.confirmed && one.source !== "account").map((one) => one.address);
  return [address.toLowerCase(), ...others];
}

/** The sender address of new mail. @param {Addressed} account */
export function defaultAddress({ address, addresses = [] }) {
  return addresses.find((one) => one.default)?.address ?? address.toLowerCase();
}

/** All addresses of several accounts. @param {Addressed[]} accounts */
export function ownAddressesOf(accounts) {
  return new Set(accounts.flatMap((one) => [plain(one.address), ...sendable(one)]));
}

/** Whether the address is one of these, with or without a tag. @param {string} address @param {Set<string>} own */
export function isOwn(address, own) {
  return own.has(address.toLowerCase()) || own.has(plain(address));
}

/**
 * The account's address that comes first in this list, ignoring tags: an answer is sent from it.
 * @param {Addressed} account
 * @param {string[]} reached
 */
export function sentTo(account, reached) {
  const able = new Map([[plain(account.address), account.address.toLowerCase()],
    ...sendable(account).map((one) => /** @type {[string, string]} */ ([one, one]))]);
  const spelled = reached.flatMap((one) => [one.toLowerCase(), plain(one)]);
  return able.get(spelled.find((one) => able.has(one)) ?? "") ?? null;
}

/** In lower case and without the tag (`mia+shop@…`). @param {string} address */
function plain(address) {
  const lower = address.toLowerCase();
  const at = lower.lastIndexOf("@");
  const tagless = lower.slice(0, Math.max(0, at)).split("+")[0];
  return tagless ? `${tagless}${lower.slice(at)}` : lower;
}
