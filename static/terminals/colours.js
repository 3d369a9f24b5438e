// @ts-check
/** The colours of a terminal: the app's current colours, in the form that xterm.js takes. */

const NAMES = /** @type {const} */ ({
  background: "surface",
  foreground: "ink",
  cursor: "accent",
  cursorAccent: "surface",
  selectionBackground: "selected",
  scrollbarSliderBackground: "line",
  scrollbarSliderHoverBackground: "line-strong",
  scrollbarSliderActiveBackground: "field-line",
});
const COLOURS = /** @type {const} */ (["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"]);

/** @returns {import("@xterm/xterm").ITheme} */
export function terminalTheme() {
  return resolved((token) => Object.fromEntries([
    ...Object.entries(NAMES).map(([name, from]) => [name, token(from)]),
    ...COLOURS.map((name) => [name, token(`terminal-${name}`)]),
    ...COLOURS.map((name) => [`bright${name.replace(/^./, (first) => first.toUpperCase())}`,
      token(`terminal-bright-${name}`)]),
  ]));
}

/** @returns {import("@xterm/addon-search").ISearchDecorationOptions} */
export function foundColours() {
  return resolved((token) => ({
    matchBackground: token("found"),
    activeMatchBackground: token("selected"),
    activeMatchBorder: token("accent"),
    matchOverviewRuler: token("found"),
    activeMatchColorOverviewRuler: token("accent"),
  }));
}

/** Calls `changed` when the app's colours change. Returns a function that ends this. @param {() => void} changed */
export function onColours(changed) {
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme", "style"] });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", changed);
  };
}

/**
 * Calls `read` with a function that gives a token's current colour. A token may have different colours in light and
 * dark mode; the browser computes which one counts.
 * @template T
 * @param {(token: (name: string) => string) => T} read
 * @returns {T}
 */
function resolved(read) {
  const probe = document.body.appendChild(document.createElement("i"));
  try {
    return read((name) => {
      probe.style.color = `var(--${name})`;
      return hex(getComputedStyle(probe).color);
    });
  } finally {
    probe.remove();
  }
}

/** @param {string} colour as a browser computes it: rgb(1, 2, 3) */
function hex(colour) {
  const parts = colour.match(/[\d.]+/g)?.slice(0, 3) ?? [];
  return `#${parts.map((part) => Math.round(Number(part)).toString(16).padStart(2, "0")).join("")}`;
}
