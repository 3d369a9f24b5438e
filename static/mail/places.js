// @ts-check
/** The menu of everything that is not in the two sections: starred, snoozed, sent, spam, trash, and each label. */
import { useEffect, useRef } from "preact/hooks";
import { mailPath } from "../router.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { labels, labelsProblem, ownLabels, wantLabels } from "./labels.js";
import { chipStyle } from "./row.js";

/** @typedef {import("../router.js").View} View */

/** @type {{ icon: string, title: string, view: View, keys?: string }[]} */
export const PLACES = [
  { icon: "inbox", title: "Inbox", view: { kind: "sections" }, keys: "g i" },
  { icon: "star", title: "Starred", view: { kind: "label", name: "Starred" }, keys: "g s" },
  { icon: "clock", title: "Snoozed", view: { kind: "snoozed" }, keys: "g z" },
  { icon: "forward", title: "Sent", view: { kind: "label", name: "Sent" }, keys: "g t" },
  { icon: "spam", title: "Spam", view: { kind: "label", name: "Spam" } },
  { icon: "trash", title: "Trash", view: { kind: "label", name: "Trash" } },
];

/** @param {{ accountId: string | null }} props */
export function Places({ accountId }) {
  const menu = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    const mine = menu.current;
    const onToggle = () => void (mine?.matches(":popover-open") && wantLabels());
    mine?.addEventListener("toggle", onToggle);
    return () => mine?.removeEventListener("toggle", onToggle);
  }, []);
  const own = ownLabels(accountId);
  return html`<div class="places">
    <button class="icon-button" popovertarget="places-menu" aria-haspopup="true" aria-label="More: starred, sent, spam, labels" title="Starred, sent, spam, labels"><${Icon} name="menu" /></button>
    <div id="places-menu" class="places-menu" popover="auto" ref=${menu} onClick=${() => menu.current?.hidePopover()} onKeyDown=${onKeyDown}>
      <nav aria-label="Places">
        <ul>${PLACES.map(({ icon, title, view, keys }) => html`<li key=${title}>
          <a href=${mailPath(accountId, null, view)}><${Icon} name=${icon} /> <span>${title}</span>${keys && html`<kbd aria-hidden="true">${keys}</kbd>`}</a>
        </li>`)}</ul>
      </nav>
      <nav aria-label="Labels">
        ${own.length > 0 && html`<ul>${own.map((one) => html`<li key=${one.name}>
          <a href=${mailPath(accountId, null, { kind: "label", name: one.name })}><i class="label-dot" style=${chipStyle(one)}></i> <span><bdi>${one.name}</bdi></span></a>
        </li>`)}</ul>`}
        ${labels.value !== null && !own.length && html`<p class="fine">No labels yet: press l on a thread.</p>`}
        ${labelsProblem.value && html`<p class="form-problem" role="alert">Could not load the labels: ${labelsProblem.value}</p>`}
      </nav>
    </div>
  </div>`;
}

/** Arrow keys walk the links. @param {KeyboardEvent} event */
function onKeyDown(event) {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (!step || !(event.currentTarget instanceof Element)) return;
  event.preventDefault();
  const links = [...event.currentTarget.querySelectorAll("a")];
  const at = links.indexOf(/** @type {HTMLAnchorElement} */ (document.activeElement));
  links[(at + step + links.length) % links.length]?.focus();
}
