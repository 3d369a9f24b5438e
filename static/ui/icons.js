// @ts-check
/** The app's icons: strokes on a 20-unit grid, drawn in the text's colour, hidden from screen readers. */
import { html } from "./html.js";

/** @type {Record<string, string>} */
const PATHS = {
  archive: "M3 4.5h14v3H3zM4.5 7.5v8h11v-8M8 10.5h4",
  inbox: "M3.5 11.5 5.6 4.5h8.8l2.1 7v4h-13zM3.5 11.5h4l1 2h3l1-2h4",
  back: "M12.5 4.5 7 10l5.5 5.5",
  chevron: "M7.5 5 12.5 10l-5 5",
  up: "M5 12.5 10 7.5l5 5",
  down: "M5 7.5 10 12.5l5-5",
  unread: "M3 5.5h14v9H3zM3 6l7 5 7-5",
  clip: "M14.5 9.2 9.6 14a3 3 0 0 1-4.3-4.2l5.5-5.5a2 2 0 0 1 2.9 2.9l-5.4 5.3a1 1 0 0 1-1.4-1.4l4.7-4.7",
  file: "M5.5 3h6l3 3v11h-9zM11.5 3v3h3",
  image: "M3.5 4.5h13v11h-13zM3.5 13l3.5-3.5 3 3 2-2 4.5 4.5M12.9 8h.01",
  sheet: "M4 4h12v12H4zM4 8h12M4 12h12M9 8v8",
  calendar: "M4 5h12v11H4zM4 8.5h12M7 3.5v3M13 3.5v3",
  zip: "M5.5 3h9v14h-9zM10 3v2M10 7v2M10 11v2",
  download: "M10 3.5v9M6.5 9.5 10 13l3.5-3.5M4 16.5h12",
  blocked: "M3 10s2.5-4.5 7-4.5c1 0 2 .2 2.8.6M17 10s-2.5 4.5-7 4.5c-1 0-2-.2-2.8-.6M4 16 16 4",
  help: "M7.7 7.6a2.4 2.4 0 1 1 3.6 2.2c-.9.5-1.3 1-1.3 1.9M10 14.5h.01",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2.5v1.5M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 1M15.3 4.7l-1 1M5.7 14.3l-1 1",
  moon: "M15.5 11.8A6 6 0 0 1 8.2 4.5a6 6 0 1 0 7.3 7.3z",
  system: "M3.5 4.5h13v8.5h-13zM8 16h4M10 13v3",
  plus: "M10 4.5v11M4.5 10h11",
  search: "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM13 13l4 4",
  star: "M10 3.2l2.1 4.3 4.7.7-3.4 3.3.8 4.7-4.2-2.2-4.2 2.2.8-4.7-3.4-3.3 4.7-.7z",
  label: "M3.5 4h6.3l6.7 6.7-5.8 5.8L3.5 9.8zM6.7 7.2h.01",
  spam: "M7 3.5h6l3.5 3.5v6L13 16.5H7L3.5 13V7zM10 6.8v3.9M10 13.2h.01",
  menu: "M3.5 5.5h13M3.5 10h13M3.5 14.5h13",
  read: "M3 8l7-4.5L17 8v7.5H3zM3 8.3l7 4.2 7-4.2",
  undo: "M7.5 5 4 8.5 7.5 12M4 8.5h7.5a4 4 0 0 1 0 8H8",
  check: "M4.5 10.5 8.5 14.5 15.5 6",
  copy: "M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3",
  warning: "M10 3.5 17 16H3zM10 8.5v3.5M10 14h.01",
  close: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  expand: "M10 3.5v13M6.5 13 10 16.5 13.5 13M6.5 7 10 3.5 13.5 7",
  settings: "M3.5 6h7M14.5 6h2M3.5 14h2M9.5 14h7M12.5 4a2 2 0 1 0 0 4 2 2 0 0 0 0-4zM7.5 12a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  person: "M10 3.5a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM4 16.5c.4-3.2 2.8-5 6-5s5.6 1.8 6 5",
  people: "M7.5 4.5a2.6 2.6 0 1 0 0 5.2 2.6 2.6 0 0 0 0-5.2zM2.5 15.5c.3-2.6 2.3-4 5-4s4.7 1.4 5 4M13 4.8a2.3 2.3 0 0 1 0 4.4M14.5 11.8c1.7.5 2.8 1.8 3 3.7",
  device: "M6 3h8v14H6zM9 14.5h2",
  browser: "M3 4.5h14v11H3zM3 7.8h14M5.3 6.2h.01M7.3 6.2h.01",
  terminal: "M3 4.5h14v11H3zM6 8l2.5 2L6 12M10 12.5h4",
  edit: "M4 16l.8-3.4L13 4.4l2.6 2.6-8.2 8.2zM11.2 6.2l2.6 2.6",
  history: "M4 10a6 6 0 1 0 2-4.5L4 7.3M4 3.8v3.5h3.5M10 7v3.3l2.2 1.4",
  bold: "M6.5 4h4.2a2.9 2.9 0 0 1 0 5.8H6.5zM6.5 9.8h5a3.1 3.1 0 0 1 0 6.2h-5z",
  italic: "M8.5 4h5M6.5 16h5M11.5 4l-3 12",
  link: "M8.5 11.5a3 3 0 0 0 4.3 0l2.6-2.6a3 3 0 0 0-4.3-4.3L10 5.7M11.5 8.5a3 3 0 0 0-4.3 0l-2.6 2.6a3 3 0 0 0 4.3 4.3l1.1-1.1",
  bullets: "M8 5h8.5M8 10h8.5M8 15h8.5M4 5h.01M4 10h.01M4 15h.01",
  numbers: "M8.5 5h8M8.5 10h8M8.5 15h8M3.5 3.8 4.7 3v4M3.3 9.5c.4-1 2-1 2 .1 0 .9-2 1.2-2 2.4h2.2M3.4 14c.9-.6 2-.2 2 .6 0 .5-.5.8-1 .8.6 0 1.1.3 1.1.9 0 .9-1.3 1.3-2.2.6",
  clock: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM10 6.5V10l2.5 1.5",
  minimise: "M5 14.5h10",
  trash: "M4 5.5h12M8 5.5v-2h4v2M5.5 5.5l.7 11h7.6l.7-11M8.5 8.5v5M11.5 8.5v5",
  reply: "M8.5 5 4 9.5 8.5 14M4 9.5h7c3 0 5 2 5 5.5",
  replyAll: "M10.5 5 6 9.5l4.5 4.5M6.5 5 2 9.5 6.5 14M6 9.5h6c3 0 5 2 5 5.5",
  forward: "M11.5 5 16 9.5 11.5 14M16 9.5H9c-3 0-5 2-5 5.5",
  tasks: "M4 5.5l1.3 1.3L7.5 4.5M10 5.7h6.5M4 10.5l1.3 1.3 2.2-2.3M10 10.7h6.5M4 15.5h3M10 15.5h6.5",
  page: "M5.5 3h6l3 3v11h-9zM8 9.5h4.5M8 12.5h4.5",
};

/** @param {{ name: string, size?: number }} props */
export function Icon({ name, size = 18 }) {
  return html`<svg class="icon" width=${size} height=${size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d=${PATHS[name] ?? ""} />
  </svg>`;
}

/** The mark: two tides. */
export function Mark() {
  return html`<svg class="mark" width="22" height="22" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" />
    <path d="M7 12.5c3 0 3 2 6 2s3-2 6-2 3 2 6 2M7 19c3 0 3 2 6 2s3-2 6-2 3 2 6 2" />
  </svg>`;
}

/**
 * The icon of a kind of file.
 * @param {string} mime
 */
export function fileIcon(mime) {
  if (mime.startsWith("image/")) return "image";
  if (/calendar/.test(mime)) return "calendar";
  if (/csv|sheet|excel/.test(mime)) return "sheet";
  if (/zip|compressed|tar|gzip/.test(mime)) return "zip";
  return "file";
}
