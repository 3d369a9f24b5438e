// @ts-check
/** The view of pages: the tree, and beside it the page at the address, which is read, edited, or missing. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { RpcError, query } from "../rpc.js";
import { navigate } from "../router.js";
import { meProblem } from "../session.js";
import { personId } from "../unsaved.js";
import { keepFocus } from "../ui/focus.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { drafts } from "./drafts.js";
import { Editor } from "./editor.js";
import { MissingPage } from "./missing.js";
import { usePagesNews } from "./news.js";
import { isAtOrBelow, lastPart, pageHref } from "./paths.js";
import { Recent } from "./recent.js";
import { TRASH_HREF, TrashPage } from "./trash.js";
import { PageTree } from "./tree.js";
import { PageView } from "./view.js";

/** @param {{ path: string, trash: boolean }} props */
export function PagesPage({ path, trash }) {
  useEffect(() => {
    document.title = `${path ? lastPart(path) : trash ? "Trash" : "Pages"} – svc`;
  }, [path, trash]);
  return html`<div class=${`panel pages ${path || trash ? "with-page" : ""}`}>
    <aside class="pages-side">
      <p class="pages-side-title"><a href="/p/" aria-current=${path || trash ? undefined : "page"}>All pages</a></p>
      <${PageTree} current=${path} />
      <p class="pages-side-end"><a href=${TRASH_HREF} aria-current=${trash ? "page" : undefined}>Trash</a></p>
    </aside>
    <main class="pages-main">${
      trash ? html`<${TrashPage} />` : path ? html`<${OnePage} key=${path} path=${path} />` : html`<${NewPage} />`
    }</main>
  </div>`;
}

/** @param {{ path: string }} props */
function OnePage({ path }) {
  const { page, problem, load } = usePage(path);
  /** 0: the page is shown for reading; else how often editing began, so that each time gets a new editor. */
  const [writing, setWriting] = useState(() => Number(drafts.of(path) !== null));
  const [left, setLeft] = useLeft(path, () => setWriting((times) => times + 1));
  const settled = () => setLeft(false);
  const done = () => {
    setWriting(0);
    settled();
    keepFocus();
    void load();
  };
  useEffect(() => {
    if (page) document.title = `${page.title} – svc`;
  }, [page]);
  if (problem) {
    return html`<div class="notice bad" role="alert"><span>Could not load the page: ${problem}</span>
      <button class="button small" onClick=${() => void load()}>Try again</button></div>`;
  }
  if (page === undefined || left === undefined) return html`<p class="quiet-text" role="status">Loading the page</p>`;
  if (writing) {
    return html`<${Editor} key=${writing} path=${path} page=${page} left=${left} settled=${settled} done=${done} />`;
  }
  if (page === null) return html`<${MissingPage} path=${path} create=${() => setWriting(1)} />`;
  return html`<${PageView} page=${page} edit=${() => setWriting(1)} reload=${load} />`;
}

/**
 * Whether this browser has an unsaved text of the page from an earlier visit, and a function that sets this; undefined:
 * not known yet. It is asked again when the signed-in person becomes known later.
 * @param {string} path
 * @param {() => void} found called if one was left in this browser
 */
function useLeft(path, found) {
  const [left, setLeft] = useState(/** @type {() => boolean | undefined} */ (() => drafts.of(path) ? true : undefined));
  const person = personId();
  const waits = person === null && meProblem.value === null;
  useEffect(() => {
    if (waits) return;
    void drafts.takeLeft(path).then((is) => {
      if (is) found();
      setLeft((was) => is || (was ?? false));
    });
  }, [path, person, waits]);
  return /** @type {const} */ ([left, setLeft]);
}

/**
 * The page at a path, kept up to date: undefined while it loads, null when there is none (or none that this person may
 * read).
 * @param {string} path
 */
function usePage(path) {
  const [page, setPage] = useState(/** @type {PageDetail | null | undefined} */ (undefined));
  const [problem, setProblem] = useState("");
  const asked = useRef(0);
  const load = useCallback(async () => {
    const mine = ++asked.current;
    try {
      const found = await query("pages.get", { path });
      if (mine !== asked.current) return;
      setPage(found);
      setProblem("");
    } catch (error) {
      if (mine !== asked.current) return;
      if (error instanceof RpcError && error.code === "NOT_FOUND") setPage(null);
      else setProblem(error instanceof Error ? error.message : String(error));
    }
  }, [path]);
  useEffect(() => {
    void load();
    return () => {
      asked.current += 1;
    };
  }, [load]);
  usePagesNews((changed) => {
    if (changed === null || isAtOrBelow(path, changed)) void load();
  });
  return { page, problem, load };
}

function NewPage() {
  const [path, setPath] = useState("");
  const wanted = path.split("/").map((part) => part.trim()).filter(Boolean).join("/");
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (wanted) navigate(pageHref(wanted));
  };
  return html`<h1>Pages</h1>
    <p class="quiet-text page-about">Notes in Markdown, each at a path of its own. What is below a page shares its
      readers.</p>
    <form class="page-form" onSubmit=${submit}>
      <label class="field grow">Open or make a page
        <input value=${path} placeholder="clients/harbour/notes" autocapitalize="none" spellcheck=${false}
          onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setPath(event.currentTarget.value)} />
          </label>
      <button class="button primary" disabled=${!wanted}>Go</button>
    </form>
    <${Unsaved} />
    <${Recent} />`;
}

/** The texts that wait to be saved, so that none is forgotten. */
function Unsaved() {
  const [paths, setPaths] = useState(/** @type {string[]} */ ([]));
  const person = personId();
  useEffect(() => {
    void drafts.paths().then(setPaths);
  }, [person]);
  if (!paths.length) return null;
  return html`<section class="pages-recent" aria-labelledby="pages-unsaved-title">
    <h2 id="pages-unsaved-title">Not saved yet</h2>
    <ul>${paths.map((path) => html`<li key=${path}><a href=${pageHref(path)}>
      <${Icon} name="edit" size=${16} />
      <span class="pages-recent-title"><bdi>${lastPart(path)}</bdi></span>
      <span class="pages-recent-path"><bdi>${path}</bdi></span></a></li>`)}</ul>
  </section>`;
}
