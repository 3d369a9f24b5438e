// @ts-check
/** Shared by settings sections whose rows are pages: the page that is being edited, and the pages with a fault. */
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../ui/html.js";

/**
 * The state of the editor. When it closes, the focus goes to the element that opened it, `edit-<path>` or `edit-new`.
 * @template {{ path: string | null }} Edited
 * @param {import("@preact/signals").Signal<Edited | null>} written kept by the section, so that it is still there when
 *   the person comes back from another page
 * @param {() => Promise<void>} load
 */
export function useWritten(written, load) {
  const edited = written.value;
  const left = useRef(/** @type {string | null} */ (null));
  const write = (/** @type {Partial<Edited>} */ part) => {
    if (written.value) written.value = { ...written.value, ...part };
  };
  const done = async () => {
    left.current = `edit-${edited?.path ?? "new"}`;
    written.value = null;
    await load();
  };
  useLayoutEffect(() => {
    if (edited || left.current === null) return;
    document.getElementById(left.current)?.focus();
    left.current = null;
  }, [edited]);
  return { edited, write, done };
}

/**
 * @param {{ problems: OutputOf<"config.problems"> | null, below: string }} props `below`: the folder of these pages
 */
export function Faults({ problems, below }) {
  return (problems ?? []).filter(({ path }) => path.startsWith(below)).map((one) => html`<p key=${one.path}
    class="form-problem" role="status"><a href=${`/p/${one.path}`}>${one.path}</a>, line ${one.line}: ${one.reason}.${
      one.inForce && " Its last whole version stays in force."}</p>`);
}
