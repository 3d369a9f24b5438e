// @ts-check
/** Which tabs fit into a bar. Pure. */

/** What "+12 ·12,345" takes, with the gaps around it. */
export const MORE_PX = 116;

/**
 * The tabs that have no room, in their order: the last ones, but never the current one nor the first.
 * @param {{ id: string, width: number }[]} tabs
 * @param {string} current
 * @param {number} room in pixels
 */
export function fitting(tabs, current, room) {
  const total = tabs.reduce((sum, one) => sum + one.width, 0);
  if (total <= room) return [];
  const first = tabs[0]?.id;
  const always = tabs.filter(({ id }) => id === first || id === current);
  let left = room - MORE_PX - always.reduce((sum, one) => sum + one.width, 0);
  let full = false;
  return tabs.filter((one) => {
    if (always.includes(one)) return false;
    full ||= one.width > left;
    left -= one.width;
    return full;
  }).map((one) => one.id);
}
