// @ts-check
/** Of what kind the rows in sight are: asked for a moment after they come in sight, many at once, each once. */
import { useEffect } from "preact/hooks";
import { query } from "../rpc.js";
import { KINDS, KIND_WORDS, kinds, noteKind, triageOn } from "./kinds.js";

const AFTER_MS = 120;
const AT_ONCE = 200;
const MAX_ASKED = 5_000;
/** Threads that were asked for: what is said of them later comes by itself. @type {Set<string>} */
const asked = new Set();
triageOn.subscribe(() => asked.clear());

/** Asks, and shows nothing. @param {{ ids: string[] }} props */
export function AskKinds({ ids }) {
  const wanted = triageOn.value ? ids.filter((id) => !asked.has(id) && !kinds.value.has(id)).slice(0, AT_ONCE) : [];
  const key = wanted.join(" ");
  useEffect(() => {
    if (!key) return undefined;
    const timer = setTimeout(() => void ask(key.split(" ")), AFTER_MS);
    return () => clearTimeout(timer);
  }, [key]);
  return null;
}

/** @param {string[]} threadIds */
async function ask(threadIds) {
  if (asked.size > MAX_ASKED) asked.clear();
  for (const id of threadIds) asked.add(id);
  try {
    const found = await query("triage.of", { threadIds });
    for (const kind of KINDS) noteKind(found.filter((one) => one.kind === kind).map((one) => one.threadId), kind);
  } catch {
    for (const id of threadIds) asked.delete(id); // the next look at the list asks again
  }
}

/**
 * What a row says of its kind; null where it says nothing: triage is off, nobody knows, or it is of no kind by itself.
 * @param {string} threadId
 */
export function kindWords(threadId) {
  const kind = triageOn.value ? kinds.value.get(threadId) : undefined;
  return kind === undefined || kind === "other" ? null : KIND_WORDS[kind];
}
