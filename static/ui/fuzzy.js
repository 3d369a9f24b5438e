// @ts-check
/** Fuzzy match of typed letters with a name: all in order; starts of words and adjacent letters score higher. Pure. */

const WORD_START = 3;
const IN_A_ROW = 2;
const ANYWHERE = 0.5;

/**
 * The score: 0 for no match; else above 0, the higher the better. An empty text matches every name equally.
 * @param {string} text
 * @param {string} name
 */
export function matchScore(text, name) {
  const wanted = [...plain(text)].filter((letter) => letter !== " ");
  if (!wanted.length) return 1;
  const letters = [...plain(name)];
  let best = 0;
  letters.forEach((letter, from) => {
    if (letter === wanted[0]) best = Math.max(best, scoreFrom(wanted, letters, from));
  });
  return best && best / wanted.length + 1 / (10 + letters.length);
}

/** @param {string[]} wanted @param {string[]} letters @param {number} from */
function scoreFrom(wanted, letters, from) {
  let score = 0;
  let last = -2;
  let at = from;
  for (const letter of wanted) {
    while (at < letters.length && letters[at] !== letter) at += 1;
    if (at === letters.length) return 0;
    const begins = at === 0 || !/[\p{L}\p{N}]/u.test(letters[at - 1] ?? "");
    score += begins ? WORD_START : at === last + 1 ? IN_A_ROW : ANYWHERE;
    last = at;
    at += 1;
  }
  return score;
}

/** Lower case, without accents. @param {string} text */
function plain(text) {
  return text.toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
}
