// @ts-check
/** Decides whether a mail has its own colours: only then would dark paper change its sender's choice. Pure. */

/** The values that mail programs write although nobody chose a colour. */
const NO_CHOICE = new Set(["", "inherit", "initial", "unset", "currentcolor", "transparent", "none", "windowtext",
  "window", "auto"]);
/** @type {Record<string, number[]>} */
const NAMED = { black: [0, 0, 0], white: [255, 255, 255], gray: [128, 128, 128], grey: [128, 128, 128] };
/** The largest difference of red, green and blue in a grey, and in a black with a touch of colour. */
const GREY_SPREAD = 24;
const BLACK_SPREAD = 48;
/** Of 255. A darker colour counts as text colour; a lighter grey can't be read as text on white. */
const BLACK_MAX = 96;
const GREY_MAX = 170;
const PAPER_MIN = 245;
/** A border does not count: programs draw one beside each quotation. */
const DECLARATION = /(?:^|;)\s*(color|background(?:-color|-image)?)\s*:\s*([^;]*)/giu;

/** Mail programs colour the text of links and quotations themselves. */
const OF_PROGRAMS = "a, blockquote, blockquote *";

/** @param {Element} body sanitized: colours are in style attributes, and in `bgcolor` and `color` */
export function hasColours(body) {
  return [...body.querySelectorAll("[style],[bgcolor],[color]")].some((one) => {
    const ink = one.matches(OF_PROGRAMS) ? () => true : isInk;
    return isChosen(one.getAttribute("bgcolor"), isPaper) || isChosen(one.getAttribute("color"), ink)
      || chooses(one.getAttribute("style") ?? "", ink);
  });
}

/**
 * Removes white backgrounds: white is not a choice, and on dark paper it would be a bright block. Changes `body`.
 * @param {HTMLElement} body sanitized
 */
export function clearPaper(body) {
  for (const one of body.querySelectorAll("[bgcolor]")) {
    if (isPaper(plainly(one.getAttribute("bgcolor")))) one.removeAttribute("bgcolor");
  }
  for (const one of body.querySelectorAll("[style*='background']")) {
    const style = one.getAttribute("style") ?? "";
    one.setAttribute("style", style.replace(DECLARATION, (whole, name, value) =>
      (name.toLowerCase() === "color" || !isPaper(plainly(value)) ? whole : "")));
  }
}

/** @param {string} style @param {(plain: string) => boolean} ink */
function chooses(style, ink) {
  return [...style.matchAll(DECLARATION)].some(([, name = "", value = ""]) =>
    isChosen(value, name.toLowerCase() === "color" ? ink : isPaper));
}

/** @param {string | null} value @param {(plain: string) => boolean} isUsual */
function isChosen(value, isUsual) {
  const plain = plainly(value);
  return !NO_CHOICE.has(plain) && !isUsual(plain);
}

/**
 * Whether it is a usual text colour of programs: black, a black with a touch of colour, or a grey.
 * @param {string} plain
 */
function isInk(plain) {
  const parts = partsOf(plain);
  if (!parts) return false;
  const [most, spread] = [Math.max(...parts), Math.max(...parts) - Math.min(...parts)];
  return (most <= BLACK_MAX && spread <= BLACK_SPREAD) || (most <= GREY_MAX && spread <= GREY_SPREAD);
}

/** Whether it is white, or almost white. @param {string} plain */
function isPaper(plain) {
  const parts = partsOf(plain);
  return parts !== null && Math.min(...parts) >= PAPER_MIN;
}

/**
 * Red, green and blue, of 255; null: the colour is written in another form.
 * @param {string} plain
 * @returns {number[] | null}
 */
function partsOf(plain) {
  const [, short, long, list] = /^(?:#([\da-f]{3})|#([\da-f]{6})|rgb\((\d+,\d+,\d+)\))$/u.exec(plain) ?? [];
  if (list) return list.split(",").map(Number);
  const digits = long ?? short?.replace(/./gu, "$&$&");
  return digits ? [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)) : NAMED[plain] ?? null;
}

/** @param {string | null} value */
function plainly(value) {
  return (value ?? "").toLowerCase().replace(/\s|!important/gu, "");
}
