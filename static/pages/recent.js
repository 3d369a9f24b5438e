// @ts-check
/** The last changed pages among those that the person may read, so that they can continue there. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { query } from "../rpc.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { usePagesNews } from "./news.js";
import { pageHref } from "./paths.js";

export function Recent() {
  const [pages, setPages] = useState(/** @type {OutputOf<"pages.find">} */ ([]));
  const asked = useRef(0);
  const load = useCallback(async () => {
    const mine = ++asked.current;
    const found = await query("pages.find", { text: "" }).catch(() => null); // the tree shows the problem
    if (found && mine === asked.current) setPages(found);
  }, []);
  useEffect(() => {
    void load();
    return () => {
      asked.current += 1;
    };
  }, [load]);
  usePagesNews(() => void load());
  if (!pages.length) return null;
  return html`<section class="pages-recent" aria-labelledby="pages-recent-title">
    <h2 id="pages-recent-title">Changed last</h2>
    <ul>${pages.map(({ id, path, title }) => html`<li key=${id}><a href=${pageHref(path)}>
      <${Icon} name="page" size=${16} />
      <span class="pages-recent-title"><bdi>${title || path}</bdi></span>
      <span class="pages-recent-path"><bdi>${path}</bdi></span></a></li>`)}</ul>
  </section>`;
}
