// @ts-check
/** The filters above a list: what each is called, and a chip each that narrows the list to it or opens it again. */
import { html } from "../ui/html.js";
import { FILTERS } from "./address.js";
import { narrowTo } from "./moving.js";

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

/** @param {{ only: Filter | null }} props */
export function Filters({ only }) {
  return html`<div class="filters" role="group" aria-label="Show only">
    ${FILTERS.map((one) => html`<button key=${one} class="filter" aria-pressed=${one === only ? "true" : "false"}
      title=${`Show only ${FILTER_WORDS[one]} (${FILTER_KEYS[one]})`} onClick=${() => narrowTo(one)}>${LABELS[one]}
      </button>`)}
  </div>`;
}
