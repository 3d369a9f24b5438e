// @ts-check
/**
 * Teaches keys: a person who clicks a button for the third time is shown its key, once. The key is in the button's
 * title, "Archive (e)", which also appears on hover. The counts are stored in this browser.
 */
import { scopes } from "./keys.js";
import { keyWords } from "./ui/key_words.js";
import { toast } from "./ui/toast.js";

const STORED = "svc.hints";
const USES = 3;
const TITLE = /^(.*) \(([^()]+)\)$/u;

/** Called once. */
export function startHints() {
  addEventListener("click", onClick, { capture: true }); // before the click changes the button's meaning
}

/** @param {Event} event */
function onClick(event) {
  if (!(event instanceof PointerEvent) || event.pointerType !== "mouse" || !(event.target instanceof Element)) return;
  const title = event.target.closest("button[title], a[title]")?.getAttribute("title") ?? "";
  const [, does = "", keys = ""] = TITLE.exec(title) ?? [];
  if (work(keys) && counted(keys) === USES) toast(`${does}: next time press ${keys}.`);
}

/** Whether these keys have a function now. @param {string} words */
function work(words) {
  return scopes.value.some(({ shortcuts }) =>
    shortcuts.some((one) => one.keys.some((keys) => keyWords(keys) === words) && (one.when?.() ?? true)));
}

/** Counts one more use of these keys' button; returns the count. @param {string} keys */
function counted(keys) {
  const uses = kept();
  const now = (uses[keys] ?? 0) + 1;
  try {
    localStorage.setItem(STORED, JSON.stringify({ ...uses, [keys]: now }));
  } catch {
    return 0; // nothing can be stored: no hint is better than one at each click
  }
  return now;
}

/** @returns {Record<string, number>} */
function kept() {
  try {
    const found = /** @type {unknown} */ (JSON.parse(localStorage.getItem(STORED) ?? "{}"));
    return typeof found === "object" && found !== null ? /** @type {Record<string, number>} */ ({ ...found }) : {};
  } catch {
    return {};
  }
}
