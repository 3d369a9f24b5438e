// @ts-check
/**
 * The fields of a snippet: `{first name}` and similar ones are filled when it is inserted into a mail; `{cursor}` is
 * where writing goes on; any other, such as `{project}`, has to be filled by hand. Pure.
 */

const FIELD = /\{(\p{L}[\p{L}\p{N} _-]{0,39})\}/gu;
export const CURSOR = "{cursor}";
/** The fields that the app fills, for the list in the settings. */
export const KNOWN = ["first name", "name", "my name", "my first name", "my address", "date"];

/** @typedef {Record<string, string>} Values by field, without its braces; empty if the value is not known now */

/**
 * @param {{ to: Person[], senderName: string, senderAddress: string }} mail
 * @returns {Values}
 */
export function valuesOf({ to: [first], senderName, senderAddress }) {
  const name = first?.name ?? "";
  return {
    "first name": firstName(name), name, "my name": senderName, "my first name": firstName(senderName),
    "my address": senderAddress, date: new Date().toLocaleDateString(undefined, { dateStyle: "long" }),
  };
}

/** Fills the fields that have a value. @param {string} text @param {Values} values */
export function fill(text, values) {
  return text.replace(FIELD, (field, name) => values[name.toLowerCase()] || field);
}

/** The fields that remain to be filled by hand, each once, with their braces. @param {string[]} texts */
export function fieldsIn(texts) {
  const found = texts.flatMap((text) => text.match(FIELD) ?? []);
  return [...new Set(found)].filter((field) => field !== CURSOR);
}

/** The first name; also of `Feld, Jonas`, which is Jonas. @param {string} name */
function firstName(name) {
  const [family, given] = name.split(",", 2);
  return (given ?? family ?? "").trim().split(/\s+/)[0] ?? "";
}
