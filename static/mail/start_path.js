// @ts-check
/** The address where a provider's own sign-in starts. Pure. */

/** Providers with their own sign-in besides the identity provider's. */
const NAMED = ["outlook"];

/** @param {string} address @param {string} [provider] */
export function startPath(address, provider = "") {
  const asked = new URLSearchParams();
  if (NAMED.includes(provider)) asked.set("provider", provider);
  if (address) asked.set("email", address);
  return asked.size ? `/oauth/mail/start?${asked}` : "/oauth/mail/start";
}
