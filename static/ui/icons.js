// @ts-check
/**
 * The app's icons: strokes on a 20-unit grid, drawn in the text's colour, hidden from screen readers. This file has
 * those that several features show; the others are in the features' rows.
 */
import { html } from "./html.js";

/** @type {Record<string, string>} */
const PATHS = {
  inbox: "M3.5 11.5 5.6 4.5h8.8l2.1 7v4h-13zM3.5 11.5h4l1 2h3l1-2h4",
  menu: "M3.5 5.5h13M3.5 10h13M3.5 14.5h13",
  back: "M12.5 4.5 7 10l5.5 5.5",
  chevron: "M7.5 5 12.5 10l-5 5",
  clip: "M14.5 9.2 9.6 14a3 3 0 0 1-4.3-4.2l5.5-5.5a2 2 0 0 1 2.9 2.9l-5.4 5.3a1 1 0 0 1-1.4-1.4l4.7-4.7",
  help: "M7.7 7.6a2.4 2.4 0 1 1 3.6 2.2c-.9.5-1.3 1-1.3 1.9M10 14.5h.01",
  sun: "M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 2.5v1.5M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 " +
    "1M15.3 4.7l-1 1M5.7 14.3l-1 1",
  moon: "M15.5 11.8A6 6 0 0 1 8.2 4.5a6 6 0 1 0 7.3 7.3z",
  system: "M3.5 4.5h13v8.5h-13zM8 16h4M10 13v3",
  plus: "M10 4.5v11M4.5 10h11",
  read: "M3 8l7-4.5L17 8v7.5H3zM3 8.3l7 4.2 7-4.2",
  check: "M4.5 10.5 8.5 14.5 15.5 6",
  copy: "M7.5 7.5h8v8h-8zM12.5 7.5v-3h-8v8h3",
  warning: "M10 3.5 17 16H3zM10 8.5v3.5M10 14h.01",
  close: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  edit: "M4 16l.8-3.4L13 4.4l2.6 2.6-8.2 8.2zM11.2 6.2l2.6 2.6",
  link: "M8.5 11.5a3 3 0 0 0 4.3 0l2.6-2.6a3 3 0 0 0-4.3-4.3L10 5.7M11.5 8.5a3 3 0 0 0-4.3 0l-2.6 2.6a3 3 0 0 0 4.3 " +
    "4.3l1.1-1.1",
  terminal: "M3 4.5h14v11H3zM6 8l2.5 2L6 12M10 12.5h4",
  command: "M7.5 7.5h5v5h-5zM7.5 7.5V5.7a1.8 1.8 0 1 0-1.8 1.8zM12.5 7.5h1.8a1.8 1.8 0 1 0-1.8-1.8zM12.5 12.5v1.8" +
    "a1.8 1.8 0 1 0 1.8-1.8zM7.5 12.5H5.7a1.8 1.8 0 1 0 1.8 1.8z",
  clock: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM10 6.5V10l2.5 1.5",
};

/** Called once for each feature that has its own icons. @param {Record<string, string>} icons */
export function addIcons(icons) {
  for (const [name, path] of Object.entries(icons)) {
    if (name in PATHS) throw new Error(`two icons are called ${name}`);
    PATHS[name] = path;
  }
}

/** @param {{ name: string, size?: number }} props */
export function Icon({ name, size = 18 }) {
  return html`<svg class="icon" width=${size} height=${size} viewBox="0 0 20 20" aria-hidden="true" focusable="false">
    <path d=${PATHS[name] ?? ""} />
  </svg>`;
}

/** The app's logo: two waves. */
export function Mark() {
  return html`<svg class="mark" width="22" height="22" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" />
    <path d="M7 12.5c3 0 3 2 6 2s3-2 6-2 3 2 6 2M7 19c3 0 3 2 6 2s3-2 6-2 3 2 6 2" />
  </svg>`;
}
