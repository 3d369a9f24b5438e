// @ts-check
/**
 * The addresses of meetings: /p/meetings, and /p/meetings/mtg_<id> with an optional ?t=<seconds>. Other addresses below
 * /p/meetings/ are pages, and are not parsed here.
 */
export const MEETINGS_HREF = "/p/meetings";
const MEETINGS = /^\/p\/meetings(?:\/(mtg_[a-z0-9]+))?\/?$/;

/** @param {URL} url @returns {{ id: string | null, at: number | null } | null} */
export function parseMeetingsAddress({ pathname, searchParams }) {
  const match = MEETINGS.exec(pathname);
  if (!match) return null;
  const at = Number(searchParams.get("t") ?? NaN);
  return { id: match[1] ?? null, at: Number.isFinite(at) && at >= 0 ? at : null };
}

/** @param {string} id @param {number} [at] seconds */
export function meetingHref(id, at) {
  return `${MEETINGS_HREF}/${id}${at === undefined ? "" : `?t=${Math.floor(at)}`}`;
}
