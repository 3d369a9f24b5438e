// @ts-check
/**
 * The tree of pages. A level is fetched when it is opened; all open levels are fetched again after a change. Owns which
 * levels are open.
 */
import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { RpcError, query } from "../rpc.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { usePagesNews } from "./news.js";
import { pageHref, pathsAbove } from "./paths.js";

const SETTLE_MS = 150;
const TOP = "";

/** For each open path, the pages directly below it. */
const levels = signal(/** @type {Map<string, PageEntry[]>} */ (new Map()));
const open = signal(/** @type {Set<string>} */ (new Set([TOP])));
const problem = signal("");
/** @type {ReturnType<typeof setTimeout> | undefined} */
let settling;

/** @param {{ current: string }} props */
export function PageTree({ current }) {
  usePagesNews(reloadSoon);
  useEffect(() => {
    open.value = new Set([...open.value, TOP, ...(current ? pathsAbove(current) : [])]);
    reload();
  }, [current]);
  const top = levels.value.get(TOP);
  return html`<nav class="tree" aria-label="Pages">
    ${problem.value && html`<p class="form-problem" role="alert">Could not load the pages: ${problem.value}</p>`}
    ${!top && !problem.value && html`<p class="quiet-text" role="status">Loading the pages</p>`}
    ${top?.length === 0 && html`<p class="quiet-text">There are no pages yet.</p>`}
    ${top && html`<${Level} entries=${top} current=${current} />`}
  </nav>`;
}

/** @param {{ entries: PageEntry[], current: string }} props */
function Level({ entries, current }) {
  return html`<ul>${entries.map((entry) => html`<${Branch} key=${entry.id} entry=${entry} current=${current} />`)}
    </ul>`;
}

/** @param {{ entry: PageEntry, current: string }} props */
function Branch({ entry, current }) {
  const isOpen = entry.hasChildren && open.value.has(entry.path);
  const below = isOpen ? levels.value.get(entry.path) : undefined;
  return html`<li>
    <div class="tree-row">
      ${entry.hasChildren
        ? html`<button class="tree-fold" aria-expanded=${isOpen} aria-label=${`Pages below ${entry.title}`}
          onClick=${() => toggle(entry.path)}>
            <${Icon} name="chevron" size=${16} />
          </button>`
        : html`<span class="tree-fold"></span>`}
      <a href=${pageHref(entry.path)} aria-current=${entry.path === current ? "page" : undefined} title=${entry.path}>
        ${entry.title}</a>
      ${entry.access === "explicit" && entry.kind === "page"
        && html`<span class="tree-shared" role="img" aria-label="has its own sharing" title="Has its own sharing">
          <${Icon} name="people" size=${14} /></span>`}
    </div>
    ${below && html`<${Level} entries=${below} current=${current} />`}
  </li>`;
}

/** @param {string} path */
function toggle(path) {
  const next = new Set(open.value);
  if (!next.delete(path)) next.add(path);
  open.value = next;
  if (next.has(path)) void load(path);
}

function reloadSoon() {
  clearTimeout(settling);
  settling = setTimeout(reload, SETTLE_MS);
}

function reload() {
  for (const path of open.value) void load(path);
}

/** @param {string} path */
async function load(path) {
  try {
    const entries = await query("pages.tree", path === TOP ? {} : { path });
    levels.value = new Map(levels.value).set(path, entries);
    if (path === TOP) problem.value = "";
  } catch (error) {
    if (path === TOP) problem.value = error instanceof Error ? error.message : String(error);
    else if (error instanceof RpcError && error.code === "NOT_FOUND") forget(path);
  }
}

/** Removes a level whose page is deleted, or never existed. @param {string} path */
function forget(path) {
  const [nextOpen, nextLevels] = [new Set(open.value), new Map(levels.value)];
  nextOpen.delete(path);
  nextLevels.delete(path);
  open.value = nextOpen;
  levels.value = nextLevels;
}
