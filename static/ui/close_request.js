// @ts-check
/**
 * The system's request to close what is in front: the Back gesture of Android. Without this it would leave the page
 * behind. Dialogs have it by themselves; this is for what is in front and is no modal dialog.
 */

/** `close` may refuse: then the next request asks again. Returns a function that ends it. @param {() => void} close */
export function onCloseRequest(close) {
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
