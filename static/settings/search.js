// @ts-check
/** Which settings a few typed words mean: by the name of a section, and by what stands in it. Pure. */

/** @typedef {import("../feature.js").Section} Section */

/**
 * A section that fits, with those of its settings that do; none where its name alone fits.
 * @typedef {{ section: Section, holds: string[] }} Found
 */

/**
 * In the order of the list: every word begins one of the section's, or all of them begin words of one setting in it.
 * Empty words find every section.
 * @param {readonly Section[]} sections @param {string} text @returns {Found[]}
 */
export function findSettings(sections, text) {
  const wanted = words(text);
  return sections.flatMap((section) => {
    const named = words(`${section.label} ${section.title}`);
    const holds = wanted.length ? (section.holds ?? []).filter((one) => fits(wanted, [...words(one), ...named])) : [];
    const byName = fits(wanted, named);
    return byName || holds.length ? [{ section, holds: byName ? [] : holds }] : [];
  });
}

/** @param {string[]} wanted @param {string[]} there */
function fits(wanted, there) {
  return wanted.every((word) => there.some((one) => one.startsWith(word)));
}

/** Lower case, without accents. @param {string} text */
function words(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}
