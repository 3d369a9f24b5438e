// @ts-check
/**
 * The fields of a snippet: `{first name}` and its like are filled when it is put into a mail; `{cursor}` is where
 * writing goes on; any other, `{project}`, stays to be filled by hand. Pure.
 */

const FIELD = /\{(\p{L}[\p{L}\p{N} _-]{0,39})\}/gu;
export const CURSOR = "{cursor}";
/** What the app knows by itself, for the settings to tell of. */
export const KNOWN = ["first name", "name", "my name", "my first name", "my address", "date"];

/** @typedef {Record<string, string>} Values by field, without its braces; empty where it is not known now */

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

/** With the fields filled that have a value. @param {string} text @param {Values} values */
export function fill(text, values) {
  return text.replace(FIELD, (field, name) => values[name.toLowerCase()] || field);
}

/** The fields that are left to be filled by hand, each once, with their braces. @param {string[]} texts */
export function fieldsIn(texts) {
  const found = texts.flatMap((text) => text.match(FIELD) ?? []);
  return [...new Set(found)].filter((field) => field !== CURSOR);
}

/** `Feld, Jonas` is called Jonas, too. @param {string} name */
function firstName(name) {
  const [family, given] = name.split(",", 2);
  return (given ?? family ?? "").trim().split(/\s+/)[0] ?? "";
}
