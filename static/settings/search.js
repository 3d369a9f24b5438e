// @ts-check
/** Finds settings by a few typed words: by the name of a section, and by its settings. Pure. */

/** @typedef {import("../feature.js").Section} Section */

/**
 * A section that fits, with its settings that fit; `holds` is empty where its name fits all words.
 * @typedef {{ section: Section, holds: string[] }} Found
 */

/**
 * The sections that fit, in the order of the list. Each typed word must begin a word of the section's name or of one
 * setting in it (the same setting for all words). No words find every section.
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
