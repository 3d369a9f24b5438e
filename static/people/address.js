// @ts-check
/** The address of the People page, with the typed words: they are still there when the person comes back. Pure. */

/** @param {URL} url @returns {{ text: string } | null} */
export function parsePeopleAddress({ pathname, searchParams }) {
  return /^\/p\/people\/?$/.test(pathname) ? { text: searchParams.get("q") ?? "" } : null;
}

/** @param {string} text */
export function peopleHref(text) {
  return text ? `/p/people?${new URLSearchParams({ q: text })}` : "/p/people";
}
