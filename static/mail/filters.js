// @ts-check
/** The filters above a list: their names, and for each a chip that turns it on or off. */
import { signal } from "@preact/signals";
import { classes, html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { withKeys } from "../ui/key_words.js";
import { FILTERS } from "./address.js";
import { narrowTo, currentView } from "./moving.js";
import { KindFilters } from "./triage.js";

/** @typedef {import("./address.js").Filter} Filter */

/** @type {Record<Filter, string>} */
const LABELS = { "unread": "Unread", "to-me": "To me", "attachment": "Has attachment", "starred": "Starred" };
/** After “Show only”. @type {Record<Filter, string>} */
export const FILTER_WORDS = { "unread": "unread threads", "to-me": "threads to me", "attachment":
  "threads with an attachment", "starred": "starred threads" };
/** After “Nothing here”. @type {Record<Filter, string>} */
export const FILTER_NOTHING = { "unread": "is unread", "to-me": "was sent to you", "attachment": "has an attachment",
  "starred": "is starred" };
/** @type {Record<Filter, string>} */
export const FILTER_KEYS = { "unread": "v u", "to-me": "v m", "attachment": "v a", "starred": "v s" };

/** On a phone the filters are hidden until the person opens them. */
const shown = signal(false);

/** On a phone: shows the filters, or hides them. @param {{ only: Filter | null }} props */
export function FiltersButton({ only }) {
  const open = shown.value || only !== null;
  return html`<button class="icon-button filters-button" aria-label="Filters" title="Filters"
    aria-expanded=${open ? "true" : "false"} onClick=${() => { shown.value = !open; }}><${Icon} name="filter" />
  </button>`;
}

/** `kinds`: whether the kinds of triage are offered, too. @param {{ only: Filter | null, kinds: boolean }} props */
export function Filters({ only, kinds }) {
  const open = shown.value || only !== null || currentView().kind === "triage";
  return html`<div class=${classes({ filters: true, open })} role="group" aria-label="Show only">
    ${FILTERS.map((one) => html`<button key=${one} class="filter" aria-pressed=${one === only ? "true" : "false"}
      title=${withKeys(`Show only ${FILTER_WORDS[one]}`, `Mail ${FILTER_KEYS[one]}`)}
      onClick=${() => narrowTo(one)}>${LABELS[one]}</button>`)}
    ${kinds && html`<${KindFilters} />`}
  </div>`;
}
