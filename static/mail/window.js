// @ts-check
/**
 * Computes which rows are visible: the arithmetic of the windowed list, without a document.
 *
 * The list is a column of sections: a head, then rows of one height, then a foot (loading or empty). All lengths are in
 * pixels from the top of the column.
 */

/**
 * @typedef {{ count: number, foot: number }} Extent rows and foot of an open section; a closed one has neither
 * @typedef {{ headTop: number, rowsTop: number, bottom: number, count: number }} Placed
 * @typedef {{ sections: Placed[], height: number, row: number, head: number }} Geometry
 * @typedef {{ first: number, end: number }} Range rows first to end - 1
 */

/**
 * @param {Extent[]} extents
 * @param {{ row: number, head: number }} sizes
 * @returns {Geometry}
 */
export function layOut(extents, { row, head }) {
  let y = 0;
  const sections = extents.map(({ count, foot }) => {
    const placed = { headTop: y, rowsTop: y + head, bottom: y + head + count * row + foot, count };
    y = placed.bottom;
    return placed;
  });
  return { sections, height: y, row, head };
}

/**
 * The rows of a section that are visible or nearly so.
 * @param {Geometry} geometry
 * @param {number} index of the section
 * @param {{ top: number, height: number, overscan: number }} view
 * @returns {Range}
 */
export function rowsInSight(geometry, index, { top, height, overscan }) {
  const section = geometry.sections[index];
  if (!section || !section.count) return { first: 0, end: 0 };
  const first = Math.floor((top - section.rowsTop) / geometry.row) - overscan;
  const end = Math.ceil((top + height - section.rowsTop) / geometry.row) + overscan;
  return { first: clamp(first, 0, section.count), end: clamp(end, 0, section.count) };
}

/**
 * The rows in sight, and of those drawn before the ones next to them that lie near enough.
 * @param {Range} sight
 * @param {Range} before
 * @param {Range} near
 * @returns {Range}
 */
export function withKept(sight, before, near) {
  if (before.first > sight.end || before.end < sight.first) return sight;
  return { first: Math.min(sight.first, Math.max(before.first, near.first)),
    end: Math.max(sight.end, Math.min(before.end, near.end)) };
}

/**
 * The scroll position at which a row is fully visible, between the sticky heads; unchanged if it is already.
 * @param {Geometry} geometry
 * @param {number} sectionIndex
 * @param {number} rowIndex
 * @param {{ top: number, height: number }} view
 */
export function scrollToShow(geometry, sectionIndex, rowIndex, { top, height }) {
  const section = geometry.sections[sectionIndex];
  if (!section) return top;
  const rowTop = section.rowsTop + rowIndex * geometry.row;
  const headsAbove = (sectionIndex + 1) * geometry.head;
  const headsBelow = (geometry.sections.length - 1 - sectionIndex) * geometry.head;
  if (rowTop < top + headsAbove) return Math.max(0, rowTop - headsAbove);
  if (rowTop + geometry.row > top + height - headsBelow) return rowTop + geometry.row - height + headsBelow;
  return top;
}

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
