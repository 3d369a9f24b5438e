// @ts-check
/**
 * Recipients as people type and paste them: parsed, checked, and written as mailboxes of RFC 5322. Pure, linear.
 *
 * The server decides what a valid address is; this check is only for the display while typing.
 */

/** The most recipients in one message. */
export const MAX_RECIPIENTS = 500;

const SEPARATORS = ",;\n\r\t";
const ADDRESS = /^[^\s@<>()[\]",;:\\]{1,64}@(?:[^\s@<>()[\]",;:\\.]{1,63}\.)+[^\s@<>()[\]",;:\\.]{2,63}$/u;
const NEEDS_QUOTES = /[^\p{L}\p{N}\p{M} !#$%&'*+\-/=?^_`{|}~]/u;

/** @param {string} address */
export function isAddress(address) {
  return address.length <= 254 && ADDRESS.test(address) && !/^\.|\.\.|\.@/.test(address);
}

/**
 * All mailboxes of a text: `Ann <ann@x.org>, bob@y.org; "Smith, Carl" <carl@z.org>`, or one per line. Text that is not
 * a mailbox is returned as an address that isAddress refuses, so that nothing typed is lost.
 * @param {string} text
 * @returns {Person[]}
 */
export function parseMailboxes(text) {
  return split(text).flatMap(parsePart);
}

/** `"Smith, Carl" <carl@z.org>` @param {Person} person */
export function formatMailbox({ name, address }) {
  const plain = name.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim();
  if (!plain) return address;
  const shown = NEEDS_QUOTES.test(plain) ? `"${plain.replace(/[\\"]/g, "\\$&")}"` : plain;
  return `${shown} <${address}>`;
}

/** Removes repeated addresses, even with different names. @param {Person[]} people */
export function withoutDoubles(people) {
  const seen = new Set();
  return people.filter(({ address }) => {
    const key = address.toLowerCase();
    return !seen.has(key) && seen.add(key);
  });
}

/** Splits at separators outside of quotes and angle brackets. @param {string} text */
function split(text) {
  const parts = [];
  let part = "";
  let quoted = false;
  let bracket = false;
  for (let index = 0; index < text.length; index += 1) {
    const letter = text.charAt(index);
    if (letter === '"') quoted = !quoted;
    else if (letter === "<") bracket = true;
    else if (letter === ">") bracket = false;
    const cuts = SEPARATORS.includes(letter) && (letter === "\n" || letter === "\r" || (!quoted && !bracket));
    if (cuts) {
      parts.push(part);
      part = "";
      quoted = bracket = false;
    } else part += letter;
  }
  return [...parts, part].map((one) => one.trim()).filter(Boolean);
}

/** @param {string} part @returns {Person[]} */
function parsePart(part) {
  const open = part.lastIndexOf("<");
  if (open >= 0) {
    const address = part.slice(open + 1).replace(/>.*$/su, "").trim();
    return [{ name: unquote(part.slice(0, open)), address: address.replace(/^mailto:/i, "") }];
  }
  const words = part.split(/\s+/).map((word) => word.replace(/^mailto:/i, ""));
  if (words.every(isAddress)) return words.map((address) => ({ name: "", address }));
  const last = words.at(-1) ?? "";
  if (words.length > 1 && isAddress(last)) return [{ name: unquote(words.slice(0, -1).join(" ")), address: last }];
  return [{ name: "", address: part }];
}

/** @param {string} name */
function unquote(name) {
  const trimmed = name.trim();
  const inner = /^"(.*)"$/su.exec(trimmed)?.[1];
  return inner === undefined ? trimmed : inner.replace(/\\(.)/gsu, "$1");
}
