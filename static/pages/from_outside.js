// @ts-check
/** The notice on a page that a run with text from outside has written to, and the button to trust the page. */
import { useEffect, useState } from "preact/hooks";
import { mutate, query } from "../rpc.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";

/**
 * Whether a run with text from outside has written to the page; null while this is not known.
 * @param {PageDetail} page
 * @returns {[boolean | null, (marked: boolean) => void]}
 */
export function useMark(page) {
  const [marked, setMarked] = useState(/** @type {boolean | null} */ (null));
  useEffect(() => {
    let isWanted = true;
    setMarked(null);
    query("pages.trust", { path: page.path }).then((found) => isWanted && setMarked(found.by === "run"), () => {});
    return () => {
      isWanted = false;
    };
  }, [page.path, page.revision]);
  return [marked, setMarked];
}

/** @param {{ page: PageDetail, trusted: () => void }} props */
export function FromOutside({ page, trusted }) {
  const [problem, setProblem] = useState("");
  const trust = async () => {
    try {
      await mutate("pages.setTrusted", { path: page.path, revision: page.revision });
      trusted();
      toast("The page’s text is yours from now on.");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return html`<div class="notice from-outside" role="status"><${Icon} name="warning" />
    <span>An agent that had read text from outside has written here, so links that leave are text. Agents that read this
      page are held to ask you first. ${page.canShare && "Read it, and if it is fine, trust it."}</span>
    ${page.canShare && html`<button class="button small" onClick=${trust}>Trust it</button>`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </div>`;
}
