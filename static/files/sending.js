// @ts-check
/** The uploads of the Files page. They go on while the user is on another page of the app. */
import { Uploads } from "./uploads.js";

/** The list learns of stored files from live events, so this callback does nothing. */
export const uploading = new Uploads(() => {});

/** Leaving the app would end uploads, so the browser asks first. */
export function askBeforeLeaving() {
  addEventListener("beforeunload", (event) => {
    if (uploading.underWay) event.preventDefault();
  });
}
