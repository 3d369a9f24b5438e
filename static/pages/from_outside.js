// @ts-check
/** The mark of a page that a run with text from outside has written in, and a person's word that it is theirs now. */
import { useEffect, useState } from "preact/hooks";
import { mutate, query } from "../rpc.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";

/** @param {{ page: PageDetail }} props */
export function FromOutside({ page }) {
  const [marked, setMarked] = useState(false);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    query("pages.trust", { path: page.path }).then((found) => setMarked(found.fromOutside), () => {});
  }, [page.path, page.updatedAt]);
  if (!marked) return null;
  const trust = async () => {
    try {
      await mutate("pages.setTrusted", { path: page.path });
      setMarked(false);
      toast("The page’s text is yours from now on.");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return html`<div class="notice from-outside" role="status"><${Icon} name="warning" />
    <span>An agent that had read text from outside has written here. Agents that read this page are held to ask you
      first. ${page.canWrite && "Read it, and if it is fine, trust it."}</span>
    ${page.canWrite && html`<button class="button small" onClick=${trust}>Trust it</button>`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </div>`;
}
