// @ts-check
/** A placeholder for an empty place: it says what will be here, and shows the next step as children. */
import { html } from "./html.js";
import { Icon } from "./icons.js";

/** @param {{ icon: string, title: string, size?: number, children?: unknown }} props */
export function Nothing({ icon, title, size = 36, children }) {
  return html`<div class="empty"><${Icon} name=${icon} size=${size} />
    <p class="empty-title">${title}</p>${children}</div>`;
}
