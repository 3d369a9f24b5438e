// @ts-check
/** The kinds of the visible rows: fetched a moment after they become visible, many in one call, each once. */
import { useEffect } from "preact/hooks";
import { query } from "../rpc.js";
import { KINDS, KIND_WORDS, kinds, kindsAsked, triageOn } from "./kinds.js";

const AFTER_MS = 120;
const AT_ONCE = 200;
const MAX_ASKED = 5_000;
/** Threads whose kind was fetched: later changes arrive as live events. @type {Set<string>} */
const asked = new Set();
triageOn.subscribe(() => asked.clear());

/** Fetches the kinds; renders nothing. @param {{ ids: string[] }} props */
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
  const note = kindsAsked();
  try {
    const found = await query("triage.of", { threadIds });
    for (const kind of KINDS) note(found.filter((one) => one.kind === kind).map((one) => one.threadId), kind);
  } catch {
    for (const id of threadIds) asked.delete(id); // the next view of the list fetches again
  }
}

/**
 * The words for the kind in a row; null if triage is off, or the thread has no known or special kind.
 * @param {string} threadId
 */
export function kindWords(threadId) {
  const kind = triageOn.value ? kinds.value.get(threadId) : undefined;
  return kind === undefined || kind === "other" ? null : KIND_WORDS[kind];
}
