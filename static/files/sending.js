// @ts-check
/** The uploads of the Files page. They go on while the person is elsewhere in the app. */
import { Uploads } from "./uploads.js";

/** The list hears of what arrived by the live updates. */
export const uploading = new Uploads(() => {});

/** To leave the app ends them: the browser asks first. */
export function askBeforeLeaving() {
  addEventListener("beforeunload", (event) => {
    if (uploading.underWay) event.preventDefault();
  });
}
