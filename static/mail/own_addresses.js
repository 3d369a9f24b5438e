// @ts-check
/** Which addresses are one's own, and which of them a mail is from. As `svc/mail/accounts/own_addresses.py` has it. */

/** @typedef {Pick<Account, "address" | "addresses">} Addressed */

/** What an account's mail may be from: its own address first. @param {Addressed} account */
export function sendable({ address, addresses = [] }) {
  const others = addresses.filter((one) => one.confirmed && one.source !== "account").map((one) => one.address);
  return [address.toLowerCase(), ...others];
}

/** What its new mail is from. @param {Addressed} account */
export function defaultAddress({ address, addresses = [] }) {
  return addresses.find((one) => one.default)?.address ?? address.toLowerCase();
}

/** All of several accounts. @param {Addressed[]} accounts */
export function ownAddressesOf(accounts) {
  return new Set(accounts.flatMap((one) => [plain(one.address), ...sendable(one)]));
}

/** Whether it is one of these, or one of them with a tag. @param {string} address @param {Set<string>} own */
export function isOwn(address, own) {
  return own.has(address.toLowerCase()) || own.has(plain(address));
}

/**
 * The account's address that the first of these is, tags aside: where an answer comes from.
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
