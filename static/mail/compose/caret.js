// @ts-check
/** Where the caret is. */

/**
 * The caret as a text and an offset in it; null while something is selected, or where no text ends. When Squire takes a
 * step for undo it leaves the caret behind a text, not in it.
 * @param {Range} range
 */
export function caretIn({ collapsed, startContainer, startOffset }) {
  if (!collapsed) return null;
  if (startContainer instanceof Text) return { text: startContainer, offset: startOffset };
  const before = startContainer.childNodes[startOffset - 1];
  return before instanceof Text ? { text: before, offset: before.length } : null;
}
