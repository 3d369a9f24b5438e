// @ts-check
/** A pasted text that is too long to be laid out: its layout would block the window for seconds. */

/** Longer text is cut. */
export const MAX_TEXT_CHARS = 400_000;
export const CUT = "That is very long: the first 400,000 letters were pasted, as plain text. A file may serve better.";
