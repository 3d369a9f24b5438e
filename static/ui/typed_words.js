// @ts-check
/**
 * The words in the search field of a page. The address of the page has them, too, so they are still there when the
 * person comes back.
 */
import { useEffect, useRef, useState } from "preact/hooks";

/**
 * The pause after which the typed words are written into the address. Browsers do not accept a new address for each
 * letter.
 */
const PAUSE_MS = 400;

/**
 * `words` are as typed; `settle` writes them into the address at once: for when the field is left.
 * @param {string} inAddress
 * @param {(words: string) => void} write into the address
 */
export function useTypedWords(inAddress, write) {
  const [words, setWords] = useState(inAddress);
  const newest = useRef({ words, write });
  newest.current = { words, write };
  const written = useRef(inAddress);
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const stop = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
  };
  const settle = () => {
    if (timer.current === undefined) return;
    stop();
    written.current = newest.current.words;
    newest.current.write(newest.current.words);
  };
  const type = (/** @type {string} */ next) => {
    stop();
    newest.current.words = next;
    setWords(next);
    timer.current = setTimeout(settle, PAUSE_MS);
  };
  useEffect(() => {
    if (inAddress === written.current) return;
    written.current = inAddress; // Back, or a link, brought other words
    stop();
    setWords(inAddress);
  }, [inAddress]);
  useEffect(() => stop, []);
  return { words, type, settle };
}
