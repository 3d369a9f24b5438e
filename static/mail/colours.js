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

/** @param {string} style */
function chooses(style) {
  return [...style.matchAll(DECLARATION)].some(([, name = "", value = ""]) =>
    isChosen(value, name.toLowerCase() === "color" ? INK : PAPER));
}

/** @param {string | null} value @param {Set<string>} usual */
function isChosen(value, usual) {
  const plain = (value ?? "").toLowerCase().replace(/\s|!important/gu, "");
  return !NO_CHOICE.has(plain) && !usual.has(plain);
}
