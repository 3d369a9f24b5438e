// @ts-check
/**
 * The filter chips above search results: each adds a word to the query, which is shown in the field, or removes it.
 * They hold no state: the query decides which chips are on.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { navigate } from "../router.js";
import { classes, html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { placeAt, walkMenu } from "../ui/menu.js";
import { accounts } from "./accounts.js";
import { mailPath, mailPlace } from "./address.js";
import { searchWanted } from "./commands.js";
import { listsOf } from "./lists.js";
import { isMe } from "./names.js";
import { PLACES, SPANS, narrowed, operatorWord, rangeOf, rangeWords, timeLabel, withWords } from "./query_words.js";

/** @typedef {import("./query_words.js").Narrowing} Narrowing */

const MAX_WRITERS = 6;
const GAP_PX = 4;
const FIRST_DAY = "1970-01-01";
const LAST_DAY = "2999-12-31";

/** @param {{ accountId: string | null, query: string }} props */
export function SearchChips({ accountId, query }) {
  const set = (/** @type {Narrowing} */ one, /** @type {string[]} */ ...words) =>
    search(accountId, withWords(query, one, ...words));
  const value = (/** @type {Narrowing} */ one) => narrowed(query, one)[0]?.value ?? "";
  const place = value("place").toLowerCase();
  return html`<div class="search-chips" role="group" aria-label="Narrow the search">
    <${Menu} id="from" label="From" value=${value("from")} clear=${() => set("from")}>
      <${Writers} accountId=${accountId} query=${query} choose=${(/** @type {string} */ one) =>
        set("from", operatorWord("from", one))} />
      <button type="button" onClick=${() => somebodyElse(accountId, query)}>Somebody else…</button>
    </${Menu}>
    <${Toggle} label="Has attachment" on=${Boolean(value("attachment"))}
      toggle=${(/** @type {boolean} */ on) => set("attachment", ...(on ? ["has:attachment"] : []))} />
    <${Menu} id="time" label="Any time" value=${timeLabel(query)} clear=${() => set("time")}
      below=${html`<${Range} query=${query} choose=${(/** @type {string[]} */ words) => set("time", ...words)} />`}>
      ${SPANS.map((one) => html`<button type="button" key=${one.value}
        onClick=${() => set("time", `newer_than:${one.value}`)}>${one.label}</button>`)}
    </${Menu}>
    <${Toggle} label="Unread" on=${Boolean(value("unread"))}
      toggle=${(/** @type {boolean} */ on) => set("unread", ...(on ? ["is:unread"] : []))} />
    ${accountId === null && (accounts.value?.length ?? 0) > 1 && html`<${Menu} id="account" label="Account"
      value=${value("account")} clear=${() => set("account")}>
      ${accounts.value?.map(({ id, address }) => html`<button type="button" key=${id}
        onClick=${() => set("account", operatorWord("account", address))}><bdi>${address}</bdi></button>`)}
    </${Menu}>`}
    <${Menu} id="place" label="Place" value=${PLACES[place] ?? place} clear=${() => set("place")}>
      ${Object.entries(PLACES).map(([name, title]) => html`<button type="button" key=${name}
        onClick=${() => set("place", `in:${name}`)}>${title}</button>`)}
    </${Menu}>
    <a class="search-chip" href=${`/p/mail/best?q=${encodeURIComponent(query)}`}>Best match</a>
  </div>`;
}

/** Searches for the query with one word more, or one less. @param {string | null} accountId @param {string} query */
function search(accountId, query) {
  navigate(mailPath(accountId, null, { kind: "search", query }), { replace: mailPlace.value?.threadId === null });
}

/** Starts typing a name: the field suggests people. @param {string | null} accountId @param {string} query */
function somebodyElse(accountId, query) {
  search(accountId, withWords(query, "from", "from:"));
  searchWanted.value += 1;
}

/** @param {{ label: string, on: boolean, toggle: (on: boolean) => void }} props */
function Toggle({ label, on, toggle }) {
  return html`<button type="button" class="search-chip" aria-pressed=${on ? "true" : "false"}
    onClick=${() => toggle(!on)}>${label}${on && html`<${Icon} name="close" size=${12} />`}</button>`;
}

/**
 * A chip with a menu of its values and, when one is set, a button beside it that removes the value.
 * @param {{ id: string, label: string, value: string, clear: () => void, below?: unknown, children?: unknown }} props
 */
function Menu({ id, label, value, clear, below, children }) {
  const menu = useRef(/** @type {HTMLDivElement | null} */ (null));
  const opener = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => {
    const mine = menu.current;
    const place = () => {
      const at = opener.current?.getBoundingClientRect();
      if (mine && at) placeAt(mine, at.left, at.bottom + GAP_PX);
    };
    mine?.addEventListener("toggle", place);
    return () => mine?.removeEventListener("toggle", place);
  }, []);
  const close = () => menu.current?.hidePopover();
  return html`<span class=${classes({ "search-chip": true, on: value !== "" })}>
    <button type="button" class="search-chip-main" ref=${opener} popovertarget=${`search-${id}`} aria-haspopup="true">
      ${value ? html`<span class="sr-only">${label}: </span><bdi>${value}</bdi>` : label}
      ${!value && html`<${Icon} name="down" size=${12} />`}</button>
    ${value && html`<button type="button" class="search-chip-clear" aria-label=${`Take away: ${label}`}
      onClick=${() => { opener.current?.focus(); clear(); }}><${Icon} name="close" size=${12} /></button>`}
    <div id=${`search-${id}`} class="menu" popover="auto" ref=${menu} role="group" aria-label=${label}>
      <div onClick=${close} onKeyDown=${walkMenu}>${children}</div>
      ${below && html`<div class="search-range" onSubmit=${close}>${below}</div>`}
    </div>
  </span>`;
}

/**
 * The writers of the results.
 * @param {{ accountId: string | null, query: string, choose: (one: string) => void }} props
 */
function Writers({ accountId, query, choose }) {
  const [list] = listsOf({ kind: "search", query }, accountId);
  void list?.version.value;
  const writers = new Map((list?.rows ?? []).map(({ sender }) => [sender.address, sender.title || sender.name]));
  const others = [...writers].filter(([address]) => address && !isMe(address)).slice(0, MAX_WRITERS);
  return html`${others.map(([address, name]) => html`<button type="button" key=${address}
      onClick=${() => choose(address)}><span><bdi>${name || address}</bdi></span></button>`)}
    <button type="button" onClick=${() => choose("me")}>Me</button>`;
}

/** A range of days. @param {{ query: string, choose: (words: string[]) => void }} props */
function Range({ query, choose }) {
  const now = rangeOf(query);
  const [first, setFirst] = useState(now.first);
  const [last, setLast] = useState(now.last);
  useEffect(() => {
    setFirst(now.first);
    setLast(now.last);
  }, [now.first, now.last]);
  const day = (/** @type {string} */ label, /** @type {string} */ value,
    /** @type {(day: string) => void} */ change) => html`<label>${label} <input type="date" value=${value}
      min=${FIRST_DAY} max=${LAST_DAY}
      onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => change(event.currentTarget.value)} />
      </label>`;
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    choose(rangeWords(first, last));
  };
  return html`<form onSubmit=${submit}>
    ${day("From", first, setFirst)}${day("To", last, setLast)}
    <button type="submit" disabled=${!first && !last}>Set these days</button>
  </form>`;
}
