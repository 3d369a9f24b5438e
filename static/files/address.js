// @ts-check
/** The address of the Files page: the typed words, the kinds of files, and their order. Pure. */

/**
 * @typedef {NonNullable<InputOf<"files.list">>} ListInput
 * @typedef {NonNullable<ListInput["sort"]>} Sort
 * @typedef {{ name: string, title: string, kinds: NonNullable<ListInput["kinds"]> }} Sieve several kinds under one name
 * @typedef {{ text: string, sieve: Sieve, sort: Sort }} Filter
 */

/** @type {readonly [Sieve, ...Sieve[]]} */
export const SIEVES = [
  { name: "", title: "All", kinds: [] },
  { name: "images", title: "Images", kinds: ["image"] },
  { name: "documents", title: "Documents", kinds: ["pdf", "document", "sheet", "slides", "text", "calendar"] },
  { name: "audio", title: "Audio", kinds: ["audio"] },
  { name: "video", title: "Video", kinds: ["video"] },
  { name: "archives", title: "Archives", kinds: ["archive"] },
  { name: "other", title: "Other", kinds: ["other"] },
];
/** @type {Record<Sort, string>} */
export const SORTS = { newest: "Newest first", name: "By name", size: "Largest first" };

/** @param {URL} url @returns {Filter | null} */
export function parseFilesAddress({ pathname, searchParams }) {
  if (!/^\/p\/files\/?$/.test(pathname)) return null;
  const sort = searchParams.get("sort") ?? "";
  return {
    text: searchParams.get("q") ?? "",
    sieve: SIEVES.find(({ name }) => name === searchParams.get("kind")) ?? SIEVES[0],
    sort: sort in SORTS ? /** @type {Sort} */ (sort) : "newest",
  };
}

/** @param {Filter} filter */
export function filesHref({ text, sieve, sort }) {
  const words = new URLSearchParams();
  if (text) words.set("q", text);
  if (sieve.name) words.set("kind", sieve.name);
  if (sort !== "newest") words.set("sort", sort);
  return `/p/files${words.size ? `?${words}` : ""}`;
}
