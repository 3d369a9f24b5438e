// @ts-check
/**
 * The windowed list: both sections in one scrolled column, of which only the rows in sight are in the document.
 *
 * Theory. Rows have one height, so their places are arithmetic (window.js). What comes or goes above the first row in
 * sight must not move it: after each draw the scroll position is set so that an anchor row (the selected one if it is in
 * sight) stands where it stood. At the very top there is no anchor: new mail shows itself.
 *
 * Owns the scroll position, also that of tabs left behind. It decides nothing about threads.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { now } from "../now.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { Empty, Skeleton } from "./empty.js";
import { listOf } from "./lists.js";
import { Row } from "./row.js";
import { SECTIONS, focusWanted, folded, neighbour, select, selectedId, toggleSection } from "./selection.js";
import { layOut, rowsInSight, scrollToShow } from "./window.js";

/** @typedef {import("./lists.js").ThreadList} ThreadList */
/** @typedef {import("./window.js").Geometry} Geometry */
/** @typedef {{ id: string, section: number, index: number, at: number }} Anchor a row in sight, and where it was in the column */

const OVERSCAN_ROWS = 8;
/** The next page is asked for when this many rows are left below. */
const FETCH_AHEAD_ROWS = 80;
const SKELETON_ROWS = 8;
const EMPTY_INBOX_PX = 260;
const EMPTY_SKIPPED_PX = 88;
const FAILED_PX = 112;

/** Where each tab was scrolled to. @type {Map<string, number>} */
const remembered = new Map();
/** The last wish for focus that was met. */
let focusMet = 0;

/** @param {{ accountId: string | null, open: (thread: Thread) => void }} props */
export function ThreadLists({ accountId, open }) {
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const anchor = useRef(/** @type {Anchor | null} */ (null));
  const [sizes, setSizes] = useState({ row: 0, head: 0, height: 0 });
  const [, setPlace] = useState(0);

  const lists = SECTIONS.map(({ section }) => listOf(section, accountId));
  for (const list of lists) void list.version.value;
  const geometry = layOut(lists.map((list) => extentOf(list, sizes.row)), sizes);
  const top = scroller.current?.scrollTop ?? remembered.get(accountId ?? "") ?? 0;
  const view = { top, height: sizes.height, overscan: OVERSCAN_ROWS };

  useLayoutEffect(() => measure(/** @type {HTMLDivElement} */ (scroller.current), setSizes), []);
  useLayoutEffect(() => {
    if (scroller.current && sizes.row) scroller.current.scrollTop = remembered.get(accountId ?? "") ?? 0;
  }, [accountId, sizes.row > 0]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !sizes.row) return;
    holdAnchor(element, top, anchor.current, lists, geometry);
    anchor.current = pickAnchor(element.scrollTop, lists, geometry, sizes.height);
    fetchWhatIsNear(lists, geometry, element.scrollTop, sizes.height);
  });
  useLayoutEffect(() => {
    if (scroller.current && sizes.row) showSelected(scroller.current, lists, geometry, sizes.height);
  }, [selectedId.value, focusWanted.value]);

  const onScroll = () => {
    const element = /** @type {HTMLDivElement} */ (scroller.current);
    remembered.set(accountId ?? "", element.scrollTop);
    anchor.current = pickAnchor(element.scrollTop, lists, geometry, sizes.height);
    setPlace(Math.floor(element.scrollTop / (sizes.row || 1)));
  };
  return html`<div
    class="lists"
    ref=${scroller}
    onScroll=${onScroll}
    onClick=${(/** @type {MouseEvent} */ event) => onRow(event, lists, open)}
    onKeyDown=${onKeyDown}
  >
    <div class="lists-probe row" aria-hidden="true"></div>
    <div class="lists-probe section-head" aria-hidden="true"></div>
    <div class="lists-flow">${SECTIONS.map(
      ({ section, title }, index) => html`<${SectionHead}
          key=${`head-${section}`} title=${title} section=${section} index=${index}
          list=${lists[index]} goTo=${() => goToSection(scroller.current, geometry, index)}
        />
        <${SectionBody} key=${`body-${section}`} section=${section} title=${title} list=${lists[index]} accountId=${accountId}
          geometry=${geometry} index=${index} view=${view} tabStop=${tabStop(lists)} day=${new Date(now.value).toDateString()}
        />`,
    )}</div>
  </div>`;
}

/** @param {{ title: string, section: Section, index: number, list: ThreadList, goTo: () => void }} props */
function SectionHead({ title, section, index, list, goTo }) {
  const open = !folded.value.includes(section);
  const count = `${list.rows.length.toLocaleString("en")}${list.complete ? "" : "+"}`;
  return html`<div class="section-head" data-section=${section} style=${{ "--index": index, "--below": SECTIONS.length - 1 - index }}>
    <button
      class="section-fold"
      aria-expanded=${open ? "true" : "false"}
      aria-label=${`${open ? "Fold" : "Unfold"} ${title}`}
      onClick=${() => toggleSection(section)}
    ><${Icon} name="chevron" size=${14} /></button>
    <h2>
      <button onClick=${goTo}>${title}${list.rows.length > 0 && html`<span class="section-count" aria-hidden="true">${count}</span>`}</button>
    </h2>
  </div>`;
}

/**
 * @param {{ section: Section, title: string, list: ThreadList, accountId: string | null, geometry: Geometry, index: number,
 *   view: { top: number, height: number, overscan: number }, tabStop: string | null, day: string }} props
 */
function SectionBody({ section, title, list, accountId, geometry, index, view, tabStop, day }) {
  const placed = /** @type {import("./window.js").Placed} */ (geometry.sections[index]);
  if (!geometry.row || placed.bottom === placed.rowsTop) return null;
  const { first, end } = rowsInSight(geometry, index, view);
  const indices = Array.from({ length: end - first }, (_, offset) => first + offset);
  const pinned = selectedId.value === null ? -1 : list.indexOf(selectedId.value);
  if (pinned >= 0 && (pinned < first || pinned >= end)) indices.push(pinned); // keeps the focus it may have
  const rows = indices.map((at) => {
    const thread = /** @type {Thread} */ (list.rows[at]);
    return html`<${Row} key=${thread.id} thread=${thread} index=${at} top=${at * geometry.row} day=${day}
      size=${list.complete ? list.rows.length : -1} selected=${at === pinned} reachable=${thread.id === tabStop} />`;
  });
  const height = placed.bottom - placed.rowsTop;
  return html`<div class="section-body" style=${{ height: `${height}px` }}>
    ${rows.length > 0 && html`<div role="listbox" aria-label=${title} aria-busy=${list.state === "loading" ? "true" : "false"}>${rows}</div>`}
    <div class="section-foot" style=${{ transform: `translateY(${placed.count * geometry.row}px)` }}>
      <${Foot} list=${list} section=${section} accountId=${accountId} />
    </div>
  </div>`;
}

/** @param {{ list: ThreadList, section: Section, accountId: string | null }} props */
function Foot({ list, section, accountId }) {
  if (list.state === "failed") {
    return html`<div class="failed" role="alert">
      <span>Could not load: ${list.problem}</span>
      <button class="button small" onClick=${() => void list.more()}>Try again</button>
    </div>`;
  }
  if (!list.complete) return html`<${Skeleton} rows=${list.rows.length ? 1 : skeletonRows(section)} />`;
  return list.rows.length ? null : html`<${Empty} section=${section} accountId=${accountId} />`;
}

/**
 * @param {ThreadList} list
 * @param {number} row
 */
function extentOf(list, row) {
  if (folded.value.includes(list.section)) return { count: 0, foot: 0 };
  const count = list.rows.length;
  if (list.state === "failed") return { count, foot: FAILED_PX };
  if (!list.complete) return { count, foot: row * (count ? 1 : skeletonRows(list.section)) };
  return { count, foot: count ? 0 : list.section === "inbox" ? EMPTY_INBOX_PX : EMPTY_SKIPPED_PX };
}

/** @param {Section} section */
function skeletonRows(section) {
  return section === "inbox" ? SKELETON_ROWS : 2;
}

/**
 * Keep row height, head height and the room there is up to date, however they come to change (zoom, layout, rotation).
 * @param {HTMLDivElement} element
 * @param {(sizes: { row: number, head: number, height: number }) => void} report
 */
function measure(element, report) {
  const [row, head] = element.querySelectorAll(".lists-probe");
  const observer = new ResizeObserver(() => {
    report({
      row: row?.getBoundingClientRect().height ?? 0,
      head: head?.getBoundingClientRect().height ?? 0,
      height: element.clientHeight,
    });
  });
  for (const one of [element, row, head]) if (one) observer.observe(one);
  return () => observer.disconnect();
}

/**
 * @param {HTMLDivElement} element
 * @param {number} top where it was scrolled to before this draw
 * @param {Anchor | null} anchor
 * @param {ThreadList[]} lists
 * @param {Geometry} geometry
 */
function holdAnchor(element, top, anchor, lists, geometry) {
  const list = anchor && lists[anchor.section];
  const placed = anchor && geometry.sections[anchor.section];
  if (!anchor || !list || !placed?.count || top < 1) return;
  const found = list.indexOf(anchor.id);
  const index = found >= 0 ? found : Math.min(anchor.index, placed.count - 1);
  const target = Math.round(top + placed.rowsTop + index * geometry.row - anchor.at);
  if (Math.abs(target - element.scrollTop) >= 1) element.scrollTop = target;
}

/**
 * @param {number} top
 * @param {ThreadList[]} lists
 * @param {Geometry} geometry
 * @param {number} height
 * @returns {Anchor | null}
 */
function pickAnchor(top, lists, geometry, height) {
  /** @type {Anchor | null} */
  let best = null;
  for (const [section, list] of lists.entries()) {
    const placed = geometry.sections[section];
    if (!placed?.count) continue;
    const selected = selectedId.value === null ? -1 : list.indexOf(selectedId.value);
    const first = Math.max(0, Math.ceil((top - placed.rowsTop) / geometry.row));
    for (const index of [selected, first]) {
      const at = placed.rowsTop + index * geometry.row;
      const row = list.rows[index];
      if (row && at >= top && at < top + height && (index === selected || !best)) {
        best = { id: row.id, section, index, at };
        if (index === selected) return best;
      }
    }
  }
  return best;
}

/**
 * @param {ThreadList[]} lists
 * @param {Geometry} geometry
 * @param {number} top
 * @param {number} height
 */
function fetchWhatIsNear(lists, geometry, top, height) {
  const covered = top + geometry.sections.length * geometry.head; // by the heads that stick above
  for (const [index, list] of lists.entries()) {
    const placed = geometry.sections[index];
    if (!placed || folded.value.includes(list.section)) continue;
    const ahead = top + height + FETCH_AHEAD_ROWS * geometry.row;
    if (list.state === "fresh") {
      const before = lists[index - 1];
      const isTurn = !before || before.complete || folded.value.includes(before.section);
      if (isTurn || placed.headTop < top + height) list.start();
    } else if (list.state === "ready" && placed.bottom < ahead && placed.bottom > covered) {
      void list.more();
    }
  }
}

/**
 * @param {HTMLDivElement} element
 * @param {ThreadList[]} lists
 * @param {Geometry} geometry
 * @param {number} height
 */
function showSelected(element, lists, geometry, height) {
  const id = selectedId.value;
  if (id === null) return;
  const section = lists.findIndex((list) => list.get(id) !== null);
  if (section < 0 || !geometry.sections[section]?.count) return;
  const index = /** @type {ThreadList} */ (lists[section]).indexOf(id);
  const target = scrollToShow(geometry, section, index, { top: element.scrollTop, height });
  if (target !== element.scrollTop) element.scrollTop = target;
  if (focusWanted.value !== focusMet) {
    focusMet = focusWanted.value;
    document.getElementById(`row-${id}`)?.focus({ preventScroll: true });
  }
}
/**
 * Unfold a section and scroll to its first row.
 * @param {HTMLDivElement | null} element
 * @param {Geometry} geometry
 * @param {number} index
 */
function goToSection(element, geometry, index) {
  const { section } = /** @type {{ section: Section }} */ (SECTIONS[index]);
  if (folded.value.includes(section)) toggleSection(section);
  if (element) element.scrollTop = (geometry.sections[index]?.headTop ?? 0) - index * geometry.head;
}

/** The one row that Tab reaches: the selected one, else the first. @param {ThreadList[]} lists */
function tabStop(lists) {
  const id = selectedId.value;
  if (id !== null && lists.some((list) => list.get(id))) return id;
  return lists.find((list) => list.rows.length && !folded.value.includes(list.section))?.rows[0]?.id ?? null;
}

/**
 * @param {MouseEvent} event
 * @param {ThreadList[]} lists
 * @param {(thread: Thread) => void} open
 */
function onRow(event, lists, open) {
  const row = event.target instanceof Element ? event.target.closest("[data-thread]") : null;
  const id = row?.getAttribute("data-thread");
  const thread = id ? lists.map((list) => list.get(id)).find(Boolean) : null;
  if (thread) open(thread);
}

/** Arrow keys, as in any list; j and k stand in the registry. @param {KeyboardEvent} event */
function onKeyDown(event) {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (!step || !(event.target instanceof Element) || !event.target.closest("[role=option]")) return;
  event.preventDefault();
  const next = neighbour(event.target.getAttribute("data-thread"), step);
  if (next) select(next.id, { focus: true });
}
