// @ts-check
/** Shown at a path without a page: an offer to create one, unless the person may not write to the page above. */
import { useEffect, useState } from "preact/hooks";
import { query } from "../rpc.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { Beginning } from "./beginning.js";
import { pageHref, pathsAbove } from "./paths.js";

/** @param {{ path: string, create: () => void }} props */
export function MissingPage({ path, create }) {
  const above = useNearestAbove(path);
  return html`<div class="empty">
    <${Icon} name="page" size=${44} />
    <h1 class="empty-title">There is no page at ${path}</h1>
    <p>Or there is one that is not shared with you.</p>
    ${above === null || above?.canWrite
      ? html`<${Beginning} path=${path} create=${create} />`
      : above && html`<p>You may read <a href=${pageHref(above.path)}>${above.title}</a> above it, and not add pages to
        it.</p>`}
  </div>`;
}

/**
 * The nearest page above that this person may read; null: none; undefined: not known yet.
 * @param {string} path
 */
function useNearestAbove(path) {
  const [above, setAbove] = useState(/** @type {PageDetail | null | undefined} */ (undefined));
  useEffect(() => {
    let wanted = true;
    void Promise.allSettled(pathsAbove(path).map((one) => query("pages.get", { path: one }))).then((answers) => {
      const found = answers.find((answer) => answer.status === "fulfilled");
      if (wanted) setAbove(found?.value ?? null);
    });
    return () => {
      wanted = false;
    };
  }, [path]);
  return above;
}
