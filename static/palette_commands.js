// @ts-check
/** The palette's commands besides the keys, built from the features' rows: places, settings, their own commands. */
import { features, settingsSections } from "./feature.js";
import { navigate } from "./router.js";
import { firstKeys } from "./ui/key_words.js";
import { isAdmin } from "./session.js";
import { nextTheme } from "./theme.js";
import { paletteOpen, provideCommands, provideLookup } from "./ui/palette.js";

/** @typedef {import("./feature.js").Command} Command */

/** Called once. */
export function startPaletteCommands() {
  paletteOpen.subscribe((open) => {
    if (open) for (const row of features()) row.prepare?.();
  });
  provideCommands(commands);
  for (const { lookup } of features()) if (lookup) provideLookup(lookup);
}

/** @returns {Command[]} */
function commands() {
  return [
    ...features().flatMap((row) => [...(row.nav ?? []).filter((one) => one.when?.() ?? true).map(goTo),
      ...(row.commands?.() ?? [])]),
    ...settingsSections().filter((one) => !one.adminOnly || isAdmin()).map(({ name, title, holds }) => ({
      id: `settings ${name}`, label: title, group: "Settings", also: [...(holds ?? [])],
      run: () => navigate(name ? `/settings/${name}` : "/settings"),
    })),
    { id: "theme", label: "Change the colours", also: ["theme", "dark", "light"], run: nextTheme },
  ];
}

/**
 * A place that has keys replaces the command of these keys, which leads to the same place.
 * @param {import("./feature.js").Nav} nav
 * @returns {Command}
 */
function goTo({ title, href, keys, also = [] }) {
  return { id: keys ? `key ${keys}` : `place ${title}`, label: title, group: "Go to", run: () => navigate(href()),
    also: [...also, `Go to ${title}`], ...(keys && { keys: [firstKeys(keys)] }) };
}
