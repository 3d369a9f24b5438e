// @ts-check
/** The page of a note that a plugin brings. It is shown like any page, through the same sanitizer, and is read-only. */
import { useEffect, useState } from "preact/hooks";
import { Markdown } from "../pages/markdown.js";
import { RpcError, query } from "../rpc.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { offers } from "./offers.js";

/** @param {{ plugin: string, note: string }} props */
export function NotePage({ plugin, note }) {
  const { page, problem } = useNote(plugin, note);
  useEffect(() => {
    document.title = `${page?.title ?? "Note"} – svc`;
  }, [page]);
  return html`<div class="panel plugin-note"><main class="plugin-note-text">
    ${problem && html`<div class="notice bad" role="alert"><span>Could not load the note: ${problem}</span></div>`}
    ${page === undefined && !problem && html`<p class="quiet-text" role="status">Loading the note</p>`}
    ${page === null && html`<div class="empty"><${Icon} name="plugin" size=${44} />
      <h1 class="empty-title">There is no such note</h1>
      <p>It went with its plugin, or the plugin is switched off.</p></div>`}
    ${page && html`<article>
      <header class="plugin-note-head"><h1>${page.title}</h1>
        <p class="fine">Comes with the plugin ${page.pluginTitle}</p></header>
      <${Markdown} text=${page.body} />
    </article>`}
  </main></div>`;
}

/**
 * Loads a note. `page` is undefined while it is not known, and null where there is no such note.
 * @param {string} plugin
 * @param {string} name
 */
function useNote(plugin, name) {
  const [page, setPage] = useState(/** @type {PluginsPageTextOut | null | undefined} */ (undefined));
  const [problem, setProblem] = useState("");
  const known = offers.value;
  useEffect(() => {
    let isWanted = true;
    const settle = (/** @type {PluginsPageTextOut | null | undefined} */ found, /** @type {string} */ words) => {
      if (!isWanted) return;
      setPage(found);
      setProblem(words);
    };
    query("plugins.page", { plugin, name }).then((found) => settle(found, ""), (error) => {
      if (error instanceof RpcError && error.code === "NOT_FOUND") settle(null, "");
      else settle(undefined, error instanceof Error ? error.message : String(error));
    });
    return () => {
      isWanted = false;
    };
  }, [plugin, name, known]);
  return { page, problem };
}
