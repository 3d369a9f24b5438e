// @ts-check
/** Where a provider's own sign-in begins. Pure. */

/** Providers that have a sign-in of their own beside the identity provider's. */
const NAMED = ["outlook"];

/** @param {string} address @param {string} [provider] */
export function startPath(address, provider = "") {
  const asked = new URLSearchParams();
  if (NAMED.includes(provider)) asked.set("provider", provider);
  if (address) asked.set("email", address);
  return asked.size ? `/oauth/mail/start?${asked}` : "/oauth/mail/start";
}
