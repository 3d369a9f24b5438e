// @ts-check
/**
 * Matches typed words with the beginnings of a text's words, ignoring case and accents. Pure, and fast for many texts.
 */

/** @param {string} text @param {string} typed each of its words must begin a word of the text */
export function matches(text, typed) {
  const there = plain(text);
  return plain(typed).split(/\s+/u).every((word) => begins(there, word));
}

/** @param {string} there @param {string} word */
function begins(there, word) {
  if (!word) return true;
  for (let at = there.indexOf(word); at >= 0; at = there.indexOf(word, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(there.charAt(at - 1))) return true;
  }
  return false;
}

/** @param {string} text */
function plain(text) {
  return text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
}
