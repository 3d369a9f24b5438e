// @ts-check
/**
 * Parts of the app that are loaded when they are first shown: the first page does not wait for them, and no browser
 * loads unused parts. A loaded part is drawn at once from then on. It knows no part.
 */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { html } from "./ui/html.js";

/** For this long, nothing is shown while a part loads: most parts load faster. */
const LONG_MS = 400;

/**
 * A component of a module that is imported late. If it is still loading after a moment, its place says so; if it can't
 * be loaded (there is no connection, or the server has a newer app), a message says that, with a way to continue.
 * @template M
 * @param {() => Promise<M>} load
 * @param {keyof M} name of the component in that module
 * @returns {(props?: any) => any}
 */
export function late(load, name) {
  const part = signal(/** @type {((props: any) => any) | null} */ (null));
  const failed = signal(false);
  let loading = false;
  const fetchPart = () => {
    loading = true;
    failed.value = false;
    load().then(
      (module) => {
        part.value = /** @type {(props: any) => any} */ (module[name]);
      },
      () => {
        loading = false;
        failed.value = true;
      },
    );
  };
  return function Late(props) {
    if (part.value) return html`<${part.value} ...${props} />`;
    if (failed.value) {
      return html`<div class="failed" role="alert"><span>This part of the app could not be loaded.</span>
        <button class="button small" onClick=${() => location.reload()}>Load the app again</button></div>`;
    }
    if (!loading) fetchPart();
    return html`<${OnItsWay} />`;
  };
}

/** Says that a part is on its way, once that takes so long that an empty page looks broken. */
function OnItsWay() {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => clearTimeout(timer);
  }, []);
  // A browser test waits until no part is loading.
  return html`<div class="late" data-late role="status">${isLong && "Loading"}</div>`;
}
