// @ts-check
/**
 * Saves a text on top of the revision that it began with. If another person saved first, their text is fetched and the
 * person chooses; nothing is overwritten without asking.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { RpcError, mutate, query } from "../rpc.js";
import { drafts } from "./drafts.js";
import { lastPart } from "./paths.js";

/** @typedef {import("./drafts.js").Draft} Draft */

/**
 * @param {string} path
 * @param {PageDetail | null} page the page as the server has it now; null: there is none
 * @param {() => void} settled called when the text is saved, or theirs replaces it
 */
export function useSaving(path, page, settled) {
  const [draft, setDraft] = useState(() => drafts.of(path) ?? draftFrom(path, page));
  const [theirs, setTheirs] = useState(/** @type {PageDetail | null | undefined} */ (undefined));
  const [problem, setProblem] = useState("");
  const [saving, setSaving] = useState(false);
  const busy = useRef(false);
  const known = useRef(page);

  const write = (/** @type {Partial<Draft>} */ changed) =>
    setDraft((before) => {
      const next = { ...before, ...changed };
      drafts.keep(path, next);
      return next;
    });
  const settle = (/** @type {Draft} */ next) => {
    drafts.drop(path);
    setTheirs(undefined);
    setDraft(next);
    settled();
  };
  /** Returns true if the text was saved. @param {number} [revision] */
  const save = async (revision = draft.revision) => {
    if (busy.current) return false;
    busy.current = true;
    setSaving(true);
    setProblem("");
    try {
      const saved = await mutate("pages.save", { path, title: draft.title.trim() || undefined, body: draft.body,
        revision });
      const now = drafts.of(path);
      const typed = now && (now.body !== draft.body || now.title !== draft.title); // meanwhile
      if (typed) drafts.keep(path, { ...now, revision: saved.revision });
      else drafts.drop(path);
      setTheirs(undefined);
      setDraft((before) => ({ ...before, revision: saved.revision }));
      settled();
      return true;
    } catch (error) {
      if (error instanceof RpcError && error.code === "CONFLICT" && "revision" in error.data) setTheirs(
        await fetched(path));
      else setProblem(error instanceof Error ? error.message : String(error));
      return false;
    } finally {
      busy.current = false;
      setSaving(false);
    }
  };
  // The page has another revision now than the one this text began with: show the conflict before the person saves.
  useEffect(() => {
    if (busy.current || page === known.current) return;
    known.current = page;
    if (page ? page.revision <= draft.revision : draft.revision === 0) return;
    if (drafts.of(path)) setTheirs(page);
    else settle(draftFrom(path, page));
  }, [page, saving]);

  return {
    draft, write, save, saving, problem, theirs,
    loadTheirs: () => settle(draftFrom(path, theirs ?? null)),
    keepMine: () => save(theirs?.revision ?? 0),
  };
}

/**
 * @param {string} path
 * @param {PageDetail | null} page
 * @returns {Draft}
 */
function draftFrom(path, page) {
  return page ? { title: page.title, body: page.body, revision: page.revision } : { title: lastPart(path), body: "",
    revision: 0 };
}

/** @param {string} path */
async function fetched(path) {
  try {
    return await query("pages.get", { path });
  } catch {
    return null; // deleted, or no longer readable for this person: "Keep mine" asks the server again
  }
}
