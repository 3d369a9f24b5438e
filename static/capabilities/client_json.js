// @ts-check
/** The file that Google's console offers to download of an OAuth client, understood. Pure. */

/**
 * `kind`: "web" is what a server needs; "installed" is of a program on a desktop.
 * @typedef {{ id: string, secret: string, kind: string, callbacks: string[] }} Client
 */

/** @param {string} text @returns {Client | null} `null`: it is something else */
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
 * What is wrong with it for this server, in a sentence; empty where nothing is.
 * @param {Client} client @param {readonly string[]} wanted the addresses that it has to know
 */
export function flawOf({ kind, callbacks }, wanted) {
  if (kind !== "web") {
    return "It is of another type. Create one of the type Web application: others can’t send people back.";
  }
  const missing = wanted.filter((one) => !callbacks.includes(one));
  if (!missing.length) return "";
  return `It does not know ${missing.join(" and ")} yet: add that to its authorized redirect URIs.`;
}
