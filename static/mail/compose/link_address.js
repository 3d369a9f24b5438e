// @ts-check
/** The addresses that a link of the editor may lead to. */

export const ADDRESSES = /^(?:https?|mailto|tel):/i;

/** The typed address, or null if a link must not lead there. @param {string} typed */
export function safeAddress(typed) {
  const text = typed.trim();
  if (ADDRESSES.test(text)) return text;
  if (/^[^\s@/:]+@[^\s@/:]+$/.test(text)) return `mailto:${text}`;
  if (!text || /\s/.test(text) || /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(text)) return null;
  return `https://${text.replace(/^\/+/, "")}`;
}
