// @ts-check
/** The menu of everything that is not in the two sections: starred, snoozed, sent, spam, trash, and each label. */
import { useEffect, useRef } from "preact/hooks";
import { navAt } from "../feature.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { mailPath, mailPlace } from "./address.js";
import { labels, labelsProblem, ownLabels, wantLabels } from "./labels.js";
import { chipStyle } from "./row.js";

/** @typedef {import("./address.js").View} View */

/** @type {import("../feature.js").Nav[]} */
export const PLACES = [
  { at: "places", icon: "inbox", title: "Inbox", href: listHref({ kind: "sections" }), keys: "g i" },
  { at: "places", icon: "star", title: "Starred", href: listHref({ kind: "label", name: "Starred" }), keys: "g s" },
  { at: "places", icon: "clock", title: "Snoozed", href: listHref({ kind: "snoozed" }), keys: "g z" },
  { at: "places", icon: "forward", title: "Sent", href: listHref({ kind: "label", name: "Sent" }), keys: "g t" },
  { at: "places", icon: "spam", title: "Spam", href: listHref({ kind: "label", name: "Spam" }) },
  { at: "places", icon: "trash", title: "Trash", href: listHref({ kind: "label", name: "Trash" }) },
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
    <button class="icon-button" popovertarget="places-menu" aria-haspopup="true"
      aria-label="More: starred, sent, spam, labels" title="Starred, sent, spam, labels"><${Icon} name="menu" />
      </button>
    <div id="places-menu" class="places-menu" popover="auto" ref=${menu} onClick=${() => menu.current?.hidePopover()}
      onKeyDown=${onKeyDown}>
      <nav aria-label="Places">
        <ul>${navAt("places").map(({ icon, title, href, keys }) => html`<li key=${title}>
          <a href=${href()}><${Icon} name=${icon} /> <span>${title}</span>
            ${keys && html`<kbd aria-hidden="true">${keys}</kbd>`}</a>
        </li>`)}</ul>
      </nav>
      <nav aria-label="Labels">
        ${own.length > 0 && html`<ul>${own.map((one) => html`<li key=${one.name}>
          <a href=${mailPath(accountId, null, { kind: "label", name: one.name })}>
            <i class="label-dot" style=${chipStyle(one)}></i> <span><bdi>${one.name}</bdi></span></a>
        </li>`)}</ul>`}
        ${labels.value !== null && !own.length && html`<p class="fine">No labels yet: press l on a thread.</p>`}
        ${labelsProblem.value && html`<p class="form-problem" role="alert">Could not load the
          labels: ${labelsProblem.value}</p>`}
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

/** @param {View} view */
function listHref(view) {
  return () => mailPath(mailPlace.value?.accountId ?? null, null, view);
}
