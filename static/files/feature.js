// @ts-check
/** Files, as the app's list has them: what their kinds look like. */

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "files",
  icons: {
    file: "M5.5 3h6l3 3v11h-9zM11.5 3v3h3",
    image: "M3.5 4.5h13v11h-13zM3.5 13l3.5-3.5 3 3 2-2 4.5 4.5M12.9 8h.01",
    sheet: "M4 4h12v12H4zM4 8h12M4 12h12M9 8v8",
    calendar: "M4 5h12v11H4zM4 8.5h12M7 3.5v3M13 3.5v3",
    zip: "M5.5 3h9v14h-9zM10 3v2M10 7v2M10 11v2",
  },
};
