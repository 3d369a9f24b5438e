// @ts-check
/** Reads the file of an OAuth client that Google's console offers for download. Pure. */

/**
 * `kind`: "web" is for a server; "installed" is for a desktop program.
 * @typedef {{ id: string, secret: string, kind: string, callbacks: string[] }} Client
 */

/** @param {string} text @returns {Client | null} `null`: it is another text */
export function clientIn(text) {
  if (!text.trimStart().startsWith("{")) return null;
  try {
    const [kind, found] = Object.entries(JSON.parse(text))[0] ?? [];
    if (typeof found?.client_id !== "string" || typeof found.client_secret !== "string") return null;
    const callbacks = Array.isArray(found.redirect_uris) ? found.redirect_uris.map(String) : [];
    return { id: found.client_id, secret: found.client_secret, kind: kind ?? "", callbacks };
  } catch {
    return null;
  }
}

/**
 * What is wrong with the client for this server, in a sentence; empty if nothing is.
 * @param {Client} client
 * @param {readonly string[]} wanted the callback addresses that it must contain
 */
export function flawOf({ kind, callbacks }, wanted) {
  if (kind !== "web") {
    return "It is of another type. Create one of the type Web application: others can’t send people back.";
  }
  const missing = wanted.filter((one) => !callbacks.includes(one));
  if (!missing.length) return "";
  return `It does not know ${missing.join(" and ")} yet: add that to its authorized redirect URIs.`;
}
