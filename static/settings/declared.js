// @ts-check
/** Shared by settings sections whose rows are pages: the page that is being edited, and the pages with a fault. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { me } from "../session.js";
import { html } from "../ui/html.js";

const KEPT = "svc.written";

/**
 * The state of the editor. When it closes, the focus goes to the element that opened it, `edit-<path>` or `edit-new`.
 * This tab also stores it, so that a reload or the end of the session loses nothing.
 * @template {{ path: string | null }} Edited
 * @param {import("@preact/signals").Signal<Edited | null>} written kept by the section, so that it is still there when
 *   the person comes back from another page
 * @param {() => Promise<void>} load
 * @param {string} name of the section
 */
export function useWritten(written, load, name) {
  const key = `${KEPT}.${me.value?.user?.id ?? ""}.${name}`;
  useState(() => {
    written.value ??= stored(key);
  });
  const edited = written.value;
  useEffect(() => store(key, edited), [edited]);
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

/** @param {string} key */
function stored(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? "null");
  } catch {
    return null; // the browser stores nothing for us
  }
}

/** @param {string} key @param {unknown} edited */
function store(key, edited) {
  try {
    if (edited) sessionStorage.setItem(key, JSON.stringify(edited));
    else sessionStorage.removeItem(key);
  } catch {
    // If the browser stores nothing for us, it is kept until the page is left.
  }
}

/**
 * @param {{ problems: OutputOf<"config.problems"> | null, below: string }} props `below`: the folder of these pages
 */
export function Faults({ problems, below }) {
  return (problems ?? []).filter(({ path }) => path.startsWith(below)).map((one) => html`<p key=${one.path}
    class="form-problem" role="status"><a href=${`/p/${one.path}`}>${one.path}</a>, line ${one.line}: ${one.reason}.${
      one.inForce && " Its last whole version stays in force."}</p>`);
}
