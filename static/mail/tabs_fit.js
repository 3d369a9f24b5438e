// @ts-check
/** Which tabs fit into a bar. Pure. */

/** The width of a character on the menu's button, at most, and of its paddings. */
const MORE_SIGN_PX = 9;
const MORE_GAPS_PX = 24;

/**
 * The tabs that do not fit, in their order: the last ones, but never the current one nor the first.
 * @param {{ id: string, width: number }[]} tabs
 * @param {string} current
 * @param {number} room in pixels
 * @param {string} more the longest text of the button, such as "+12 ·12,345"
 */
export function fitting(tabs, current, room, more) {
  const total = tabs.reduce((sum, one) => sum + one.width, 0);
  if (total <= room) return [];
  const first = tabs[0]?.id;
  const always = tabs.filter(({ id }) => id === first || id === current);
  let left = room - more.length * MORE_SIGN_PX - MORE_GAPS_PX - always.reduce((sum, one) => sum + one.width, 0);
  let full = false;
  return tabs.filter((one) => {
    if (always.includes(one)) return false;
    full ||= one.width > left;
    left -= one.width;
    return full;
  }).map((one) => one.id);
}
