// @ts-check
/**
 * The menu of a row: opened by the right button, by the menu key or Shift+F10, and by a command for people who have
 * neither key.
 */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { keysFor } from "../ui/key_words.js";
import { MenuItem, placeAt, walkMenu } from "../ui/menu.js";
import { plural } from "../ui/format.js";
import { onceCounted } from "./everything.js";
import { openRow } from "./moving.js";
import { everything, picked, pickedThreads } from "./selection.js";
import { toolsFor } from "./tools.js";

/** @typedef {{ threads: Thread[], href: string, x: number, y: number }} Asked */

const asked = signal(/** @type {Asked | null} */ (null));

/**
 * Opens at the mouse; below the start of the row if a key opened it.
 * @param {MouseEvent} event
 * @param {HTMLAnchorElement} row
 * @param {Thread[]} threads
 */
export function openRowMenu(event, row, threads) {
  const { left, bottom, height } = row.getBoundingClientRect();
  const byKey = event.clientX === 0 && event.clientY === 0;
  const at = byKey ? { x: left + height, y: bottom } : { x: event.clientX, y: event.clientY };
  const show = () => {
    asked.value = { threads, href: row.href, ...at };
  };
  // A menu closes if the button is released outside of it: so it opens only after the release.
  if (event.buttons) addEventListener("pointerup", () => setTimeout(show), { once: true });
  else show();
}

export function RowMenu() {
  const menu = useRef(/** @type {HTMLDivElement | null} */ (null));
  const { threads, href, x, y } = asked.value ?? { threads: [], href: "", x: 0, y: 0 };
  useLayoutEffect(() => {
    const mine = menu.current;
    if (!asked.value || !mine) return;
    mine.showPopover();
    placeAt(mine, x, y);
    mine.querySelector("button")?.focus();
  }, [asked.value]);
  const [only, ...others] = threads;
  const count = (others.length && everything.value?.count) || threads.length;
  const act = (/** @type {(threads: Thread[]) => void} */ run) => {
    if (others.length && picked.value.size) onceCounted(() => run(pickedThreads()));
    else run(threads);
  };
  return html`<div id="row-menu" class="menu" popover="auto" ref=${menu} role="group"
      aria-label=${others.length ? `${plural(count, "thread")} picked` : "This thread"}
      onClickCapture=${() => menu.current?.hidePopover()} onKeyDown=${walkMenu}>
    ${only && !others.length && html`
      <${MenuItem} icon="read" words="Open" keys="Enter" act=${() => openRow(only)} />
      <a href=${href} target="_blank" rel="noopener"><${Icon} name="link" size=${16} /> Open in a new tab</a>
      <hr />`}
    ${others.length > 0 && html`<p class="menu-title">${plural(count, "thread")}</p>`}
    ${toolsFor(threads).map(({ icon, label, keys, run }) => html`<${MenuItem} key=${label} icon=${icon} words=${label}
      keys=${keysFor(keys)} act=${() => act(run)} />`)}
  </div>`;
}
