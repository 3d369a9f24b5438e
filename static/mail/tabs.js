// @ts-check
/** The tabs: all accounts together, then one each, with the count of unread threads in the inbox. */
import { useEffect, useRef } from "preact/hooks";
import { mailPath } from "./address.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { number, plural } from "../ui/format.js";
import { accounts, unifiedUnread } from "./accounts.js";
import { connectOpen } from "./connect.js";

/** @param {{ accountId: string | null }} props */
export function Tabs({ accountId }) {
  const known = accounts.value ?? [];
  const bar = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => bar.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest",
    inline: "nearest" }), [accountId]);
  if (!known.length) return html`<div class="tabs"></div>`;
  return html`<div class="tabs">
    <div class="tabs-scroll" role="tablist" aria-label="Mailboxes" ref=${bar} onKeyDown=${onKeyDown}>
      <${Tab} title="Unified" unread=${unifiedUnread.value} href=${mailPath(null)} current=${accountId === null} />
      ${known.map(
        (account) => html`<${Tab} key=${account.id} title=${account.address} unread=${account.unread}
          href=${mailPath(account.id)} current=${accountId === account.id} trouble=${account.state === "reconnect"}
          owner=${account.owner} />`,
      )}
    </div>
    <button class="icon-button tab-add" aria-label="Connect another account" title="Connect another account"
      onClick=${() => { connectOpen.value = true; }}><${Icon} name="plus" /></button>
  </div>`;
}

/**
 * `owner`: who shares it.
 * @param {{ title: string, unread: number, href: string, current: boolean, trouble?: boolean, owner?: string | null }}
 * props
 */
function Tab({ title, unread, href, current, trouble = false, owner = null }) {
  const spoken = [title, owner !== null && `shared by ${owner}`, unread > 0 && plural(unread, "unread thread"),
    trouble && "needs to be connected again"];
  return html`<a
    class="tab" role="tab" href=${href} aria-selected=${current ? "true" : "false"} aria-controls="mail-panel"
    tabindex=${current ? 0 : -1} aria-label=${spoken.filter(Boolean).join(", ")}
  >
    ${owner !== null && html`<${Icon} name="people" size=${14} />`}
    <span class="tab-title" title=${owner === null ? undefined : `Shared by ${owner}`}>${title}</span>
    ${unread > 0 && html`<span class="tab-badge">${` ·${number(unread)}`}</span>`}
    ${trouble && html`<span class="sync-dot bad"></span>`}
  </a>`;
}

/** Arrow keys move along the tabs and open them. @param {KeyboardEvent} event */
function onKeyDown(event) {
  const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (!step || !(event.target instanceof Element)) return;
  event.preventDefault();
  const tabs = /** @type {HTMLElement[]} */ ([.../** @type {Element} */ (event.currentTarget)
    .querySelectorAll("[role=tab]")]);
  const next = tabs[(tabs.indexOf(/** @type {HTMLElement} */ (event.target)) + step + tabs.length) % tabs.length];
  next?.focus();
  next?.click();
}
