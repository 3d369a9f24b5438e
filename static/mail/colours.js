// @ts-check
/** Whether a mail has colours of its own: only then would dark paper change what its sender chose. Pure. */

/** What programs write where nobody chose a colour. */
const NO_CHOICE = new Set(["", "inherit", "initial", "unset", "currentcolor", "transparent", "none", "windowtext",
  "window", "auto"]);
const INK = new Set(["black", "#000", "#000000", "rgb(0,0,0)"]);
const PAPER = new Set(["white", "#fff", "#ffffff", "rgb(255,255,255)"]);
/** A border is none: programs draw one beside each quotation. */
const DECLARATION = /(?:^|;)\s*(color|background(?:-color|-image)?)\s*:\s*([^;]*)/giu;

/** @param {Element} body sanitized: colours stand in style attributes, and in `bgcolor` and `color` */
export function hasColours(body) {
  return [...body.querySelectorAll("[style],[bgcolor],[color]")].some((one) =>
    isChosen(one.getAttribute("bgcolor"), PAPER) || isChosen(one.getAttribute("color"), INK)
      || chooses(one.getAttribute("style") ?? ""));
}

/**
 * White is no choice, and on dark paper no slab either: what stands on it stands on the paper itself. Changes `body`.
 * @param {HTMLElement} body sanitized
 */
export function clearPaper(body) {
  for (const one of body.querySelectorAll("[bgcolor]")) {
    if (PAPER.has(plainly(one.getAttribute("bgcolor")))) one.removeAttribute("bgcolor");
  }
  for (const one of body.querySelectorAll("[style*='background']")) {
    const style = one.getAttribute("style") ?? "";
    one.setAttribute("style", style.replace(DECLARATION, (whole, name, value) =>
      (name.toLowerCase() === "color" || !PAPER.has(plainly(value)) ? whole : "")));
  }
}

/** @param {string} style */
function chooses(style) {
  return [...style.matchAll(DECLARATION)].some(([, name = "", value = ""]) =>
    isChosen(value, name.toLowerCase() === "color" ? INK : PAPER));
}

/** @param {string | null} value @param {Set<string>} usual */
function isChosen(value, usual) {
  const plain = plainly(value);
  return !NO_CHOICE.has(plain) && !usual.has(plain);
}

/** @param {string | null} value */
function plainly(value) {
  return (value ?? "").toLowerCase().replace(/\s|!important/gu, "");
}
