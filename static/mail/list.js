// @ts-check
/**
 * The windowed list: both sections in one scrolled column. Only the visible rows are in the document.
 *
 * Theory. All rows have the same height, so their positions are arithmetic (window.js). Rows that are added or removed
 * above the first visible row must not move it: after each draw the scroll position is set so that an anchor row (the
 * selected one if it is visible) stays at its place. At the very top there is no anchor, so new mail appears.
 *
 * Owns the scroll position, also of tabs that were left. It decides nothing about threads.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { now } from "../now.js";
import { mailPath } from "./address.js";
import { isAtNothing } from "../ui/focus.js";
import { number } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { keysFor, withKeys } from "../ui/key_words.js";
import { usePainted } from "../ui/painted.js";
import { accounts } from "./accounts.js";
import { Empty, SKELETON_ROWS, Skeleton } from "./empty.js";
import { listsOf } from "./lists.js";
import { ownAddresses } from "./names.js";
import { checkMail } from "./checking.js";
import { PullSign, watchPull } from "./pull.js";
import { drafted } from "./compose/compose.js";
import { returned } from "./returned.js";
import { Row } from "./row.js";
import { AskKinds, kindWords } from "./row_kinds.js";
import { entered, hovered, onPointerLeave, onPointerOver } from "./row_acts.js";
import { onClick, onContextMenu, onDragStart, onFocusOut, onKeyDown, onPointerDown, onPointerEnd, onPointerMove
  } from "./row_events.js";
import { focusWanted, folded, isPicked, picked, pickedList, selectedId, toggleSection } from "./selection.js";
import { BelowDrawn, drawn } from "./swipe.js";
import { pickMore } from "./everything.js";
import { layOut, rowsInSight, scrollToShow, withKept } from "./window.js";

/** @typedef {import("./lists.js").ThreadList} ThreadList */
/** @typedef {import("./window.js").Geometry} Geometry */
/**
 * @typedef {{ id: string, section: number, index: number, at: number }} Anchor a visible row, and its position in the
 * column
 */

/** The drawn area above and below the visible part, against gaps while scrolling. */
const OVERSCAN_PX = 320;
/**
 * It is drawn so long after a list's first frame, so that a key that comes at once need not wait for it. What of it is
 * drawn already stays: a thread that opens or closes changes the heights of the rows, and most of them stay near.
 */
const OVERSCAN_AFTER_MS = 150;
/** The next page is fetched when this many rows are left below. */
const FETCH_AHEAD_ROWS = 80;
const EMPTY_INBOX_PX = 380;
const EMPTY_SKIPPED_PX = 88;
const FAILED_PX = 112;
/** The id of the help text that screen readers read once for a list. */
const HELP = "list-help";

/** Heights in pixels: of a row, alone and beside a thread, of a section's head, and of the visible area. */
const NOT_MEASURED = { alone: 0, beside: 0, head: 0, height: 0 };

/** The scroll position of each list, by its address. @type {Map<string, number>} */
const remembered = new Map();
/** The last request for focus that was fulfilled. */
let focusMet = 0;
/** The last one whose row was not there yet. */
let focusOwed = 0;

/**
 * `beside`: the list is narrow, beside a thread. It is passed, not measured, so that the list is drawn only once when
 * this changes.
 * @param {{ accountId: string | null, view: import("./address.js").View, beside: boolean, open: (thread: Thread) =>
 * void }} props
 */
export function ThreadLists({ accountId, view: listed, beside, open }) {
  const address = mailPath(accountId, null, listed);
  const shown = useRef(address);
  const scroller = useRef(/** @type {HTMLDivElement | null} */ (null));
  const anchor = useRef(/** @type {Anchor | null} */ (null));
  const alone = useRef(!beside);
  alone.current = !beside;
  const [measured, setMeasured] = useState(NOT_MEASURED);
  const sizes = { ...measured, row: beside || !measured.alone ? measured.beside : measured.alone };
  const [, redraw] = useState(0);
  const topRow = useRef(0); // the number of the row at the top in the last draw

  const lists = listsOf(listed, accountId);
  for (const list of lists) void list.version.value;
  const geometry = layOut(lists.map((list) => extentOf(list, sizes.row)), sizes);
  const place = remembered.get(address) ?? 0; // reading it from the element would force an extra layout
  const shift = shown.current === address ? shiftOf(anchor.current, lists, geometry) : 0;
  const looks = `${address} ${sizes.row}`;
  const moved = useRef({ looks, isScrolled: false });
  if (moved.current.looks !== looks) moved.current = { looks, isScrolled: false };
  const isStill = usePainted(looks, OVERSCAN_AFTER_MS);
  const request = requestToMeet(lists);
  const asked = `${selectedId.value} ${request}`;
  const met = useRef(asked);
  const lowest = shift < 0 ? Math.max(0, geometry.height - sizes.height) : Infinity; // the column became shorter
  const kept = { top: place < 1 ? 0 : Math.min(place + shift, lowest), height: sizes.height };
  // An effect below will scroll there: the rows that come in sight then are drawn already.
  const goal = asked === met.current ? null : topShowingSelected(lists, geometry, kept);
  const view = { ...kept, top: goal ?? kept.top,
    overscan: Math.ceil(OVERSCAN_PX / (sizes.row || 1)), waits: !isStill && !moved.current.isScrolled };
  topRow.current = Math.floor(view.top / (sizes.row || 1));

  useLayoutEffect(() => measure(/** @type {HTMLDivElement} */ (scroller.current), alone, setMeasured), []);
  useLayoutEffect(() => watchPull(/** @type {HTMLDivElement} */ (scroller.current), () => void checkMail(accountId)),
    [accountId]);
  // Here the position is read from the element only after it was set: reading it forces a layout.
  useLayoutEffect(() => {
    const isOther = shown.current !== address;
    shown.current = address;
    anchor.current = null;
    if (!scroller.current || !sizes.row || (!place && !isOther)) return;
    scroller.current.scrollTop = place;
    remembered.set(address, scroller.current.scrollTop);
  }, [address, sizes.row > 0]);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element || !sizes.row) return;
    if (shift && place >= 1) {
      element.scrollTop = kept.top; // not from what it has now: where rows became lower the browser may have cut it
      remembered.set(address, element.scrollTop);
    }
    const top = remembered.get(address) ?? 0;
    anchor.current = pickAnchor(top, lists, geometry, sizes.height);
    fetchWhatIsNear(lists, geometry, top, sizes.height);
    if (request !== focusWanted.value) focusOwed = focusWanted.value;
  });
  useLayoutEffect(() => {
    met.current = asked;
    if (!scroller.current || !sizes.row) return;
    const top = showSelected(scroller.current, lists, geometry, remembered.get(address) ?? 0, sizes.height);
    remembered.set(address, top);
  }, [selectedId.value, request]);

  const onScroll = () => {
    const element = /** @type {HTMLDivElement} */ (scroller.current);
    if (remembered.get(address) !== element.scrollTop) moved.current.isScrolled = true; // not by an effect above
    remembered.set(address, element.scrollTop);
    anchor.current = pickAnchor(element.scrollTop, lists, geometry, sizes.height);
    const top = Math.max(0, element.scrollTop); // less than 0 where a phone's browser lets a list bounce
    if (Math.floor(top / (sizes.row || 1)) !== topRow.current) redraw((count) => count + 1);
  };
  return html`<div
    class="lists"
    ref=${scroller}
    onScroll=${onScroll}
    onClick=${(/** @type {MouseEvent} */ event) => onClick(event, lists, accountId, open)}
    onContextMenu=${(/** @type {MouseEvent} */ event) => onContextMenu(event, lists)}
    onKeyDown=${onKeyDown}
    onFocusOut=${onFocusOut}
    onPointerDown=${(/** @type {PointerEvent} */ event) => onPointerDown(event, lists)}
    onDragStart=${(/** @type {DragEvent} */ event) => onDragStart(event, lists)}
    onPointerMove=${onPointerMove}
    onPointerUp=${onPointerEnd}
    onPointerCancel=${onPointerEnd}
    onPointerOver=${onPointerOver}
    onPointerLeave=${onPointerLeave}
  >
    <${PullSign} />
    <p id=${HELP} class="sr-only" hidden>The menu key${keysFor("Mail .") && `, or ${keysFor("Mail .")},`} opens all that
      can be done with a thread; the right arrow leads to its buttons.</p>
    <div class="lists-probe row" aria-hidden="true"></div>
    <div class="lists-probe narrow" aria-hidden="true"><div class="row"></div></div>
    <div class="lists-probe section-head" aria-hidden="true"></div>
    <div class="lists-flow">${lists.map(
      (list, index) => html`<${SectionHead}
          key=${`head-${list.name}`} list=${list} index=${index} below=${lists.length - 1 - index}
            accountId=${accountId}
          goTo=${() => goToSection(scroller.current, lists, geometry, index)}
        />
        <${SectionBody} key=${`body-${list.name}`} list=${list} accountId=${accountId}
          listed=${listed} geometry=${geometry} index=${index} view=${view} tabStop=${tabStop(lists)}
            day=${new Date(now.value).toDateString()}
        />`,
    )}</div>
  </div>`;
}

/** @param {{ list: ThreadList, index: number, below: number, accountId: string | null, goTo: () => void }} props */
function SectionHead({ list, index, below, accountId, goTo }) {
  const { name, title } = list;
  const open = !folded.value.includes(name);
  const count = `${number(list.rows.length)}${list.complete ? "" : "+"}`;
  const isSection = name === "inbox" || name === "skipped";
  const all = picked.value.size > 0 && pickedList() === list;
  return html`<div class="section-head" data-section=${name} style=${{ "--index": index, "--below": below }}>
    ${isSection
      ? html`<button class="section-fold" aria-expanded=${open ? "true" : "false"}
        aria-label=${`${open ? "Fold" : "Unfold"} ${title}`} onClick=${() => toggleSection(name)}>
          <${Icon} name="chevron" size=${14} />
        </button>`
      : html`<a class="section-fold" href=${mailPath(accountId)} aria-label="Back to the inbox"
        title=${withKeys("Back to the inbox", "Mail u")}><${Icon} name="back" size=${14} /></a>`}
    <h2>
      <button onClick=${goTo}><bdi>${title}</bdi>
        ${list.rows.length > 0 && html`<span class="section-count" aria-hidden="true">${count}</span>`}</button>
    </h2>
    ${list.rows.length > 0 && html`<button class="section-pick" aria-pressed=${all ? "true" : "false"}
      aria-label=${`Pick all in ${title}`} title="Pick all (*)" onClick=${() => pickMore(list)}>
      <span>${all && html`<${Icon} name="check" size=${14} />`}</span></button>`}
  </div>`;
}

/**
 * @param {{ list: ThreadList, accountId: string | null, listed: import("./address.js").View, geometry: Geometry,
 *   index: number, view: { top: number, height: number, overscan: number, waits: boolean }, tabStop: string | null,
 *   day: string }} props `view.waits`: the overscan is not drawn yet
 */
function SectionBody({ list, accountId, listed, geometry, index, view, tabStop, day }) {
  const before = useRef({ list, range: { first: 0, end: 0 } });
  const placed = /** @type {import("./window.js").Placed} */ (geometry.sections[index]);
  if (!geometry.row || placed.bottom === placed.rowsTop) return null;
  const near = rowsInSight(geometry, index, view);
  const sight = rowsInSight(geometry, index, { ...view, overscan: 0 });
  const drawnBefore = before.current.list === list ? before.current.range : sight;
  const { first, end } = view.waits ? withKept(sight, drawnBefore, near) : near;
  before.current = { list, range: { first, end } };
  // A row may have left since the geometry was computed; it is computed again right after.
  const there = Math.min(end, list.rows.length);
  const indices = Array.from({ length: Math.max(0, there - first) }, (_, offset) => first + offset);
  const pinned = selectedId.value === null ? -1 : list.indexOf(selectedId.value);
  if (pinned >= 0 && (pinned < first || pinned >= end)) indices.push(pinned); // so that it keeps the focus if it has it
  const picking = picked.value.size > 0;
  const marked = accountId === null && (accounts.value?.length ?? 0) > 1;
  const ofKinds = list.name !== "triage" && list.source.about === null; // other lists show the kind by their place
  const rows = indices.map((at) => {
    const thread = /** @type {Thread} */ (list.rows[at]);
    const acts = entered.value === thread.id ? "keys" : hovered.value === thread.id ? "mouse" : null;
    const away = at < first || at >= end;
    return html`<${Row} key=${thread.id} thread=${thread} index=${at} away=${away} day=${day}
      top=${acts || away ? (at - first) * geometry.row : null}
      selected=${at === pinned} reachable=${thread.id === tabStop}
      picked=${picking && isPicked(list, thread)} isBack=${returned.value.has(thread.id)}
      drafted=${drafted.value.has(thread.id)} kind=${ofKinds ? kindWords(thread.id) : null} marked=${marked}
      about=${list.source.about} mine=${ownAddresses.value} href=${mailPath(accountId, thread.id, listed)}
      acts=${acts} />`;
  });
  const height = placed.bottom - placed.rowsTop;
  const drawnAt = drawn.value ? list.indexOf(drawn.value.id) : -1;
  return html`<div class=${`section-body${picking ? " picking" : ""}`} style=${{ height: `${height}px` }}>
    ${ofKinds && html`<${AskKinds} ids=${indices.map((at) => /** @type {Thread} */ (list.rows[at]).id)} />`}
    ${drawnAt >= 0 && html`<${BelowDrawn} top=${drawnAt * geometry.row} />`}
    ${rows.length > 0 && html`<div class="rows" style=${{ transform: `translateY(${first * geometry.row}px)` }}
      role="grid" aria-multiselectable="true" aria-label=${list.title}
      aria-describedby=${HELP} aria-rowcount=${list.complete ? list.rows.length : -1}
      aria-busy=${list.state === "loading" ? "true" : "false"}>${rows}</div>`}
    <div class="section-foot" style=${{ transform: `translateY(${placed.count * geometry.row}px)` }}>
      <${Foot} list=${list} accountId=${accountId} />
    </div>
  </div>`;
}

/** @param {{ list: ThreadList, accountId: string | null }} props */
function Foot({ list, accountId }) {
  if (list.state === "failed") {
    return html`<div class="failed" role="alert">
      <span>Could not load: ${list.problem}</span>
      <button class="button small" onClick=${() => void list.tryAgain()}>Try again</button>
    </div>`;
  }
  if (!list.complete) return html`<${Skeleton} rows=${list.rows.length ? 1 : skeletonRows(list)} />`;
  return list.rows.length ? null : html`<${Empty} source=${list.source} accountId=${accountId} />`;
}

/**
 * @param {ThreadList} list
 * @param {number} row
 */
function extentOf(list, row) {
  if (folded.value.includes(list.name)) return { count: 0, foot: 0 };
  const count = list.rows.length;
  if (list.state === "failed") return { count, foot: FAILED_PX };
  if (!list.complete) return { count, foot: row * (count ? 1 : skeletonRows(list)) };
  return { count, foot: count ? 0 : list.name === "skipped" ? EMPTY_SKIPPED_PX : EMPTY_INBOX_PX };
}

/** @param {ThreadList} list */
function skeletonRows(list) {
  return list.name === "skipped" ? 2 : SKELETON_ROWS;
}

/**
 * The newest request for focus whose row is loaded: the row may arrive later than the request. The number only grows,
 * so that a person who scrolls away from the row after it got the focus is not taken back.
 * @param {ThreadList[]} lists
 */
function requestToMeet(lists) {
  const [id, wanted] = [selectedId.value, focusWanted.value];
  return id !== null && lists.some((list) => list.get(id)) ? wanted : focusMet;
}

/**
 * Keeps the heights of a row (alone and beside a thread), of a head and of the visible area up to date, for every cause
 * of a change (zoom, layout, rotation).
 * @param {HTMLDivElement} element
 * @param {{ current: boolean }} alone whether it has the width of the page now
 * @param {(change: (before: typeof NOT_MEASURED) => typeof NOT_MEASURED) => void} report
 */
function measure(element, alone, report) {
  const probes = [".lists-probe.row", ".lists-probe.narrow .row", ".lists-probe.section-head"]
    .map((one) => element.querySelector(one));
  const observer = new ResizeObserver(() => {
    const [row = 0, beside = 0, head = 0] = probes.map((one) => one?.getBoundingClientRect().height);
    const { clientHeight: height } = element;
    report((before) => {
      const found = { alone: alone.current ? row : before.alone, beside, head, height };
      return isEqual(found, before) ? before : found;
    });
  });
  for (const one of [element, ...probes]) if (one) observer.observe(one);
  return () => observer.disconnect();
}

/** @param {typeof NOT_MEASURED} one @param {typeof NOT_MEASURED} other */
function isEqual(one, other) {
  return one.alone === other.alone && one.beside === other.beside && one.head === other.head
    && one.height === other.height;
}

/**
 * How far to scroll so that the anchor stays at its place: computed before the draw, so that rows are drawn once.
 * @param {Anchor | null} anchor
 * @param {ThreadList[]} lists
 * @param {Geometry} geometry
 */
function shiftOf(anchor, lists, geometry) {
  const list = anchor && lists[anchor.section];
  const placed = anchor && geometry.sections[anchor.section];
  if (!anchor || !list || !placed?.count) return 0;
  const found = list.indexOf(anchor.id);
  const index = found >= 0 ? found : Math.min(anchor.index, placed.count - 1);
  return Math.round(placed.rowsTop + index * geometry.row - anchor.at);
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
  const covered = top + geometry.sections.length * geometry.head; // covered by the sticky heads above
  for (const [index, list] of lists.entries()) {
    const placed = geometry.sections[index];
    if (!placed || folded.value.includes(list.name)) continue;
    const ahead = top + height + FETCH_AHEAD_ROWS * geometry.row;
    if (list.state === "fresh") {
      const before = lists[index - 1];
      const isTurn = !before || before.complete || folded.value.includes(before.name);
      const isInSight = before?.state !== "loading" && placed.headTop < top + height; // its place is known then
      if (isTurn || isInSight) list.start();
    } else if (list.state === "ready" && placed.bottom < ahead && placed.bottom > covered) {
      void list.more();
    }
  }
}

/**
 * The scroll position at which the selected row is visible; null if there is no such row.
 * @param {ThreadList[]} lists
 * @param {Geometry} geometry
 * @param {{ top: number, height: number }} view
 */
function topShowingSelected(lists, geometry, view) {
  const id = selectedId.value;
  const section = id === null ? -1 : lists.findIndex((list) => list.get(id) !== null);
  const list = lists[section];
  if (id === null || !list || !geometry.sections[section]?.count) return null;
  return scrollToShow(geometry, section, list.indexOf(id), view);
}

/**
 * Scrolls to the selected row, and gives it the focus that was asked for: not if the person went elsewhere while the
 * row was awaited. Returns the scroll position.
 * @param {HTMLDivElement} element
 * @param {ThreadList[]} lists
 * @param {Geometry} geometry
 * @param {number} top
 * @param {number} height
 */
function showSelected(element, lists, geometry, top, height) {
  const target = topShowingSelected(lists, geometry, { top, height });
  if (target === null) return top;
  if (target !== top) element.scrollTop = target;
  if (focusWanted.value !== focusMet) {
    const isFree = isAtNothing() || element.contains(document.activeElement);
    if (isFree || focusWanted.value !== focusOwed) {
      document.getElementById(`row-${selectedId.value}`)?.focus({ preventScroll: true });
    }
    focusMet = focusWanted.value;
  }
  return target === top ? top : element.scrollTop;
}

/**
 * Unfolds a section and scrolls to its first row.
 * @param {HTMLDivElement | null} element
 * @param {ThreadList[]} lists
 * @param {Geometry} geometry
 * @param {number} index
 */
function goToSection(element, lists, geometry, index) {
  const { name } = /** @type {ThreadList} */ (lists[index]);
  if (folded.value.includes(name)) toggleSection(name);
  if (element) element.scrollTop = (geometry.sections[index]?.headTop ?? 0) - index * geometry.head;
}

/** The one row that the Tab key reaches: the selected one, else the first. @param {ThreadList[]} lists */
function tabStop(lists) {
  const id = selectedId.value;
  if (id !== null && lists.some((list) => list.get(id))) return id;
  return lists.find((list) => list.rows.length && !folded.value.includes(list.name))?.rows[0]?.id ?? null;
}
