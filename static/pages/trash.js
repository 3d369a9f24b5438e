// @ts-check
/** The deleted pages, and restoring them: to their old path, or to another one if that is taken. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { now } from "../now.js";
import { mutate, query } from "../rpc.js";
import { fromHere, navigate } from "../router.js";
import { ConfirmButton } from "../ui/confirm.js";
import { ago, fullTime } from "../ui/format.js";
import { useAction } from "../ui/action.js";
import { Nothing } from "../ui/empty.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";
import { usePagesNews } from "./news.js";
import { pageHref } from "./paths.js";

export const TRASH_HREF = "/p/?trash";

/** Shows a notice that a page was deleted, with Undo. @param {PageDetail} page */
export function toastOfDeleted(page) {
  const run = () => void restore(page.id).catch((error) => {
    toast(error instanceof Error ? error.message : String(error), { tone: "error", stays: true,
      action: { label: "Trash", run: () => navigate(TRASH_HREF) } });
  });
  toast("The page is in the trash.", { action: { label: "Undo", run } });
}

export function TrashPage() {
  const [entries, setEntries] = useState(/** @type {PageInTrash[] | null} */ (null));
  const [problem, setProblem] = useState("");
  const asked = useRef(0);
  const load = useCallback(async () => {
    const mine = ++asked.current;
    try {
      const found = await query("pages.trash");
      if (mine !== asked.current) return;
      setEntries(found);
      setProblem("");
    } catch (error) {
      if (mine === asked.current) setProblem(error instanceof Error ? error.message : String(error));
    }
  }, []);
  useEffect(() => void load(), [load]);
  usePagesNews(() => void load());
  return html`<h1>Trash</h1>
    <p class="quiet-text">Deleted pages of yours. Each comes back with its history, its sharing and what was below it;
      after 30 days it is gone.</p>
    ${problem && html`<p class="form-problem" role="alert">Could not load the trash: ${problem}</p>`}
    ${!entries && !problem && html`<p class="quiet-text" role="status">Loading the trash</p>`}
    ${entries?.length === 0 && html`<${Nothing} icon="trash" title="The trash is empty" />`}
    <ul class="things trash">${entries?.map((one) => html`<${Entry} key=${one.id} one=${one}
      reload=${load} />`)}</ul>`;
}

/** @param {{ one: PageInTrash, reload: () => Promise<void> }} props */
function Entry({ one, reload }) {
  const [to, setTo] = useState(one.path);
  const [isRefused, setRefused] = useState(false); // then its field for another path stays
  const { busy, problem, run } = useAction();
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    void run(() => restore(one.id, isRefused && to !== one.path ? to : undefined).catch((error) => {
      setRefused(true);
      throw error;
    }));
  };
  const erase = async () => {
    await mutate("pages.erase", { id: one.id });
    toast(`“${one.title}” is gone for good.`);
    await reload();
  };
  const below = one.pages - 1;
  const all = below > 0 ? `it and the ${one.pages === 2 ? "page" : `${below} pages`} below it` : "it";
  return html`<li class="thing">
    <form class="page-form thing-text" onSubmit=${submit}>
      <div class="grow">
        <p class="thing-title">${one.title}</p>
        <p class="fine"><span>${one.path}</span>${below > 0 && ` · ${below} ${below === 1 ? "page" : "pages"} below`} ·
          <span title=${fullTime(one.deletedAt)}> deleted ${ago(one.deletedAt, now.value)}</span>
          ${one.deletedBy && ` by ${one.deletedBy.name || "somebody"}`} · <span>kept until
          ${" "}${fullTime(one.goesAt)}</span></p>
        ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
        ${isRefused && html`<label class="field">Restore to
            <input value=${to} autocapitalize="none" spellcheck=${false}
              onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setTo(event.currentTarget.value)}
              /></label>`}
      </div>
      <button class="button small" aria-busy=${busy} aria-label=${`Restore: ${one.title}`}>Restore</button>
      <${ConfirmButton} label="Delete for good" what=${one.title} sure="Delete for good" run=${erase}
        question=${`Delete ${all} for good? This can't be undone.`} />
    </form>
  </li>`;
}

/**
 * Restores the page and goes there.
 * @param {string} id
 * @param {string} [to]
 */
async function restore(id, to) {
  const go = fromHere();
  const { path } = await mutate("pages.undelete", to === undefined ? { id } : { id, to });
  go(pageHref(path));
  toast("The page is back.");
}
