// @ts-check
/** The dialog that moves a page to another path, or deletes it; both with all pages below it. */
import { useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { fromHere } from "../router.js";
import { ConfirmButton } from "../ui/confirm.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";
import { Dialog } from "./dialog.js";
import { pageHref, pathsAbove } from "./paths.js";
import { toastOfDeleted } from "./trash.js";

/** @param {{ page: PageDetail, close: () => void }} props */
export function ManageDialog({ page, close }) {
  const [to, setTo] = useState(page.path);
  const { busy, problem, run } = useAction();
  const wanted = to.split("/").map((part) => part.trim()).filter(Boolean).join("/");
  const move = async () => {
    const go = fromHere();
    await mutate("pages.move", { path: page.path, to: wanted });
    close();
    go(pageHref(wanted), { replace: true });
    toast("The page was moved.");
  };
  const remove = async () => {
    const go = fromHere();
    await mutate("pages.delete", { path: page.path });
    close();
    go(pageHref(pathsAbove(page.path)[0] ?? ""), { replace: true });
    toastOfDeleted(page);
  };
  return html`<${Dialog} id="manage-title" title="Move or delete" close=${close}>
    <form class="page-form" onSubmit=${(/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      void run(move);
    }}>
      <label class="field grow">New path
        <input value=${to} autocapitalize="none" spellcheck=${false}
          onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setTo(event.currentTarget.value)} />
          </label>
      <button class="button" aria-busy=${busy} disabled=${!wanted || wanted === page.path}>Move</button>
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    </form>
    <p class="fine">Pages below it move along. Links to the old path are not rewritten.</p>
    ${page.canShare && html`<div class="page-danger">
      <p>A deleted page lies in the trash for 30 days, with all pages below it.</p>
      <${ConfirmButton} label="Delete the page" question="Move it to the trash?" sure="Delete" run=${remove} />
    </div>`}
  </${Dialog}>`;
}
