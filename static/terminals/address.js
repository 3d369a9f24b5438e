// @ts-check
/** The addresses of terminals: the page, and the page with one terminal in front. */
import { decodePart } from "../router.js";

export const TERMINALS = "/p/terminal";

/** @param {URL} url @returns {{ session: string | null } | null} */
export function parseTerminalAddress({ pathname }) {
  if (pathname === TERMINALS) return { session: null };
  const [, session] = pathname.match(/^\/p\/terminal\/([^/]+)$/) ?? [];
  return session ? { session: decodePart(session) } : null;
}

/** @param {string | null} session */
export function terminalHref(session) {
  return session ? `${TERMINALS}/${encodeURIComponent(session)}` : TERMINALS;
}
