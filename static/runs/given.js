// @ts-check
/** What a run was given beside its prompt: a thread or a page, which the server adds to the prompt as JSON. Pure. */
import { pageHref } from "../pages/paths.js";

const INPUT = /(?:^|\n\n)Input: (\{.*\})$/;

/**
 * The words of a prompt, and where the thread or page that it was given is shown.
 * @param {string} text
 * @returns {{ words: string, about: { href: string, name: string } | null }}
 */
export function givenIn(text) {
  const found = INPUT.exec(text);
  const about = found && placeOf(/** @type {string} */ (found[1]));
  return about ? { words: text.slice(0, found.index), about } : { words: text, about: null };
}

/** @param {string} json */
function placeOf(json) {
  try {
    const { threadId, page, path = page } = JSON.parse(json);
    if (typeof threadId === "string") return { href: `/p/mail/t/${encodeURIComponent(threadId)}`, name: "a thread" };
    if (typeof path === "string") return { href: pageHref(path), name: path };
  } catch {
    // It is shown as it is.
  }
  return null;
}
