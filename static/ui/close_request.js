// @ts-check
/**
 * The system's request to close what is in front: the Back gesture of Android. Without this it would leave the page
 * behind. Modal dialogs handle it by themselves; this is for everything else that is in front.
 */
import { useEffect, useRef } from "preact/hooks";

/**
 * Handles the request while the component is shown and `when` is true.
 * @param {() => void} close
 * @param {boolean} [when]
 */
export function useCloseRequest(close, when = true) {
  const newest = useRef(close);
  newest.current = close;
  useEffect(() => (when ? onCloseRequest(() => newest.current()) : undefined), [when]);
}

/** `close` may refuse: then the next request asks again. Returns a function that ends it. @param {() => void} close */
function onCloseRequest(close) {
  const { CloseWatcher } = /** @type {any} */ (window);
  if (!CloseWatcher) return () => {}; // such a browser has no such request
  /** @type {any} */
  let watcher;
  const watch = () => { // one hears one request
    watcher = new CloseWatcher();
    watcher.onclose = () => {
      watch();
      close();
    };
  };
  watch();
  return () => watcher.destroy();
}
