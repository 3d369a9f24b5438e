// @ts-check
/**
 * The search field above the list, with what it understands offered below it, and what the server has to say of a
 * query.
 *
 * Typing searches by itself after a moment. The list of the newest query is shown once it is here; the answers to
 * earlier ones fill lists that nobody looks at. The query stands in the address, so that it survives a reload.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { navigate } from "../router.js";
import { mailPath, mailPlace } from "./address.js";
import { query } from "../rpc.js";
import { classes, html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { searchWanted } from "./commands.js";
import { ownLabels, wantLabels } from "./labels.js";
import { listsOf } from "./lists.js";
import { lastWord, suggestions, wantedPerson } from "./operators.js";
import { openLists, select } from "./selection.js";

const SETTLE_MS = 160;
const MAX_QUERY_CHARS = 500;

/** @typedef {import("./address.js").View} View */

/** @param {{ accountId: string | null, view: View }} props */
export function SearchField({ accountId, view }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const shown = view.kind === "search" ? view.query : "";
  const [text, setText] = useState(shown);
  const [offering, setOffering] = useState(false);
  const [active, setActive] = useState(-1);
  const [people, setPeople] = useState(/** @type {Person[]} */ ([]));
  const { searching, searchSoon, searchNow } = useSearch(accountId);
  useEffect(() => {
    if (document.activeElement !== field.current || view.kind !== "search") setText(shown);
  }, [shown, view.kind]);
  // before the next key: a letter would be a command
  useLayoutEffect(() => focusWhenWanted(field.current), [searchWanted.value]);
  usePeople(wantedPerson(text), setPeople);
  const items = offering ? suggestions(text, { labels: ownLabels(accountId).map((one) => one.name), people }) : [];

  const type = (/** @type {string} */ next) => {
    setText(next);
    setActive(-1);
    setOffering(true);
    searchSoon(next);
  };
  const take = (/** @type {import("./operators.js").Suggestion} */ one) => {
    type(text.slice(0, text.length - lastWord(text).length) + one.insert);
    field.current?.focus();
  };
  const leave = () => {
    setOffering(false);
    if (view.kind === "search" || text) {
      setText("");
      searchNow("");
      if (view.kind === "search") navigate(mailPath(accountId));
    }
    field.current?.blur();
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const chosen = items[active];
    if (event.isComposing) return;
    if (step && items.length) setActive(((active + 1 + step + items.length + 1) % (items.length + 1)) - 1);
    else if (event.key === "ArrowDown") goToResults(field.current);
    else if (event.key === "Enter" && chosen) take(chosen);
    else if (event.key === "Enter") {
      setOffering(false);
      searchNow(text);
      goToResults(field.current);
    } else if (event.key === "Escape") {
      if (items.length && text) setOffering(false);
      else leave();
    } else return;
    event.preventDefault();
  };
  return html`<form class="search" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <${Icon} name="search" size=${16} />
    <input
      ref=${field} type="text" class="search-field" role="combobox" aria-label="Search mail" placeholder="Search"
        value=${text} maxlength=${MAX_QUERY_CHARS}
      aria-expanded=${items.length ? "true" : "false"} aria-controls="search-offers" aria-autocomplete="list"
        aria-keyshortcuts="/"
      aria-activedescendant=${items[active] ? `search-offer-${active}` : undefined}
      autocomplete="off" autocapitalize="off" spellcheck=${false} enterkeyhint="search"
      onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => type(event.currentTarget.value)}
      onFocus=${() => { setOffering(true); void wantLabels(); }} onBlur=${() => setOffering(false)}
        onKeyDown=${onKeyDown}
    />
    ${searching && html`<i class="search-busy"></i>`}
    ${text && html`<button type="button" class="search-clear" aria-label="Clear the search" onClick=${leave}>
      <${Icon} name="close" size=${14} /></button>`}
    <div id="search-offers" class=${classes({ "search-offers": true, shown: items.length > 0 })} role="listbox"
      aria-label="What the search understands">
      ${items.map((one, index) => html`<div
        key=${one.id} id=${`search-offer-${index}`} class=${classes({ "chooser-item": true, active: index === active })}
          role="option" aria-selected=${index === active ? "true" : "false"}
        onMouseDown=${(/** @type {Event} */ event) => event.preventDefault()} onClick=${() => take(one)}
      ><b><bdi>${one.id}</bdi></b> <span class="quiet-text"><bdi>${one.hint}</bdi></span></div>`)}
    </div>
  </form>`;
}

/**
 * What the server says of the query: words it did not understand, mail it did not look at.
 * @param {{ accountId: string | null, view: View }} props
 */
export function SearchNotices({ accountId, view }) {
  if (view.kind !== "search") return html`<div role="status"></div>`;
  const [list] = listsOf(view, accountId);
  void list?.version.value;
  return html`<div role="status">
    ${list?.notices.map((one) => html`<p key=${one} class="strip notice-line"><bdi>${one}</bdi></p>`)}
    <span class="sr-only">${list?.state === "ready" ? `${list.rows.length}${list.complete ? "" : " or more"} found`
      : ""}</span>
  </div>`;
}

/**
 * Search as one types: soon, and only the newest query is shown.
 * @param {string | null} accountId
 */
function useSearch(accountId) {
  const newest = useRef("");
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const underWay = useRef(/** @type {import("./lists.js").ThreadList | null} */ (null));
  const [searching, setSearching] = useState(false);
  useEffect(() => () => clearTimeout(timer.current), []);
  /** The answer to what was typed before is not wanted any more. @param {string} text */
  const supersede = (text) => {
    clearTimeout(timer.current);
    if (text !== newest.current) underWay.current?.source.stop?.();
    newest.current = text;
  };
  /** @param {string} text */
  const searchNow = (text) => {
    supersede(text);
    setSearching(false);
    if (text.trim()) showFound(text, accountId);
  };
  /** @param {string} text */
  const searchSoon = (text) => {
    supersede(text);
    if (!text.trim()) return;
    timer.current = setTimeout(async () => {
      setSearching(true);
      const [list] = listsOf({ kind: "search", query: text }, accountId);
      underWay.current = list ?? null;
      if (list?.state === "fresh" || list?.state === "failed") await list.more();
      if (underWay.current === list) underWay.current = null;
      if (newest.current !== text) return; // another one is newer
      setSearching(false);
      showFound(text, accountId);
    }, SETTLE_MS);
  };
  return { searching, searchSoon, searchNow };
}

/** @param {string} text @param {string | null} accountId */
function showFound(text, accountId) {
  const here = mailPlace.value;
  if (!here) return;
  const isSearch = here.view.kind === "search";
  navigate(mailPath(accountId, null, { kind: "search", query: text }), { replace: isSearch && here.threadId === null });
}

/** @param {HTMLInputElement | null} field */
function focusWhenWanted(field) {
  if (!searchWanted.value || !field) return;
  field.focus();
  field.select();
}

/** Out of the field, to the first row that was found. @param {HTMLInputElement | null} field */
function goToResults(field) {
  field?.blur();
  const first = openLists().find((list) => list.rows.length)?.rows[0];
  select(first?.id ?? null, { focus: first !== undefined });
}

/** @param {string} wanted @param {(people: Person[]) => void} report */
function usePeople(wanted, report) {
  useEffect(() => {
    if (!wanted) {
      report([]);
      return undefined;
    }
    let isNewest = true;
    query("people.suggest", { text: wanted, limit: 6 }).then((found) => isNewest && report(found), () => undefined);
    return () => {
      isNewest = false;
    };
  }, [wanted]);
}
