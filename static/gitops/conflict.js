// @ts-check
/** A page with conflicting changes here and in its repository: both texts, and the choice. */
import { useCallback, useEffect, useState } from "preact/hooks";
import { mutate, query } from "../rpc.js";
import { ConfirmButton } from "../ui/confirm.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";

/** @typedef {OutputOf<"gitops.conflict">} Contested */
/** @typedef {"here" | "there" | "text"} Keep */

const SAID = {
  here: "The page stays as it is here, and goes to the repository.",
  there: "The page becomes what is in the repository. What was here is in its history.",
  text: "Your text is the page, and goes to the repository.",
};

/** @param {{ page: PageDetail, reload: () => Promise<void> }} props */
export function ConflictNotice({ page, reload }) {
  const { contested, problem } = useContested(page);
  const [isOpen, setOpen] = useState(false);
  return html`<section class="conflict notice" aria-labelledby="conflict-title">
    <${Icon} name="warning" />
    <div class="conflict-inside">
      <h2 id="conflict-title">Here and in the repository it is not the same</h2>
      <p>${contested?.reason ?? "It was changed in the repository as well."} What is here stays here until somebody
        chooses.</p>
      ${problem && html`<p class="form-problem" role="alert">Could not load what is in the repository: ${problem}</p>`}
      ${contested && html`<button class="button small" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        ${isOpen ? "Close" : "Compare and choose"}</button>`}
      ${contested && isOpen && html`<${Choice} page=${page} contested=${contested} reload=${reload} />`}
    </div>
  </section>`;
}

/** @param {{ page: PageDetail, contested: Contested, reload: () => Promise<void> }} props */
function Choice({ page, contested, reload }) {
  const [text, setText] = useState(page.body);
  const choose = async (/** @type {Keep} */ keep) => {
    await mutate("gitops.resolve", keep === "text" ? { path: page.path, keep, text } : { path: page.path, keep });
    toast(SAID[keep]);
    await reload();
  };
  const there = contested.there;
  return html`<div class="conflict-texts">
      <section aria-label="Here"><h3>Here</h3><pre tabindex="0">${page.body}</pre>
        ${contested.canResolve && html`<${ConfirmButton} label="Keep what is here" run=${() => choose("here")} />`}
      </section>
      <section aria-label="In the repository"><h3>In <code>${contested.file}</code></h3>
        ${there ? html`<pre tabindex="0">${there.body}</pre>` : html`<p class="quiet-text">The file was deleted.</p>`}
        ${contested.canResolve && html`<${ConfirmButton} label="Keep what is there" run=${() => choose("there")} />`}
      </section>
    </div>
    ${contested.canResolve && html`<label class="field conflict-own">Or a text of both
      <textarea value=${text} rows="10" spellcheck=${false}
        onInput=${(/** @type {{ currentTarget: HTMLTextAreaElement }} */ event) =>
          setText(event.currentTarget.value)} /></label>
      <${ConfirmButton} label="Keep this text" run=${() => choose("text")} />`}`;
}

/** The conflict, fetched again whenever the page changes. @param {PageDetail} page */
function useContested(page) {
  const [contested, setContested] = useState(/** @type {Contested | null} */ (null));
  const [problem, setProblem] = useState("");
  const load = useCallback(() => {
    let wanted = true;
    query("gitops.conflict", { path: page.path }).then(
      (found) => wanted && setContested(found),
      (error) => wanted && setProblem(error instanceof Error ? error.message : String(error)),
    );
    return () => {
      wanted = false;
    };
  }, [page]);
  useEffect(load, [load]);
  return { contested, problem };
}
