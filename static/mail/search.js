// @ts-check
/**
 * The search field above the list, with suggestions below it, and the server's remarks on a query.
 *
 * Typing searches automatically after a moment. The list of the newest query is shown once it is loaded; the answers to
 * earlier ones fill lists that are not shown. The query is in the address, so that it survives a reload.
 */
import { effect } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { navigate } from "../router.js";
import { SECTIONS_VIEW, mailPath, mailPlace, underFilter } from "./address.js";
import { isAtNothing, keepFocus } from "../ui/focus.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { searchWanted } from "./commands.js";
import { keysFor } from "../ui/key_words.js";
import { listsOf } from "./lists.js";
import { rememberSearch } from "./recent_searches.js";
import { Offers, offerId, useOffers } from "./search_offers.js";
import { openLists, select } from "./selection.js";

const SETTLE_MS = 160;
const MAX_QUERY_CHARS = 500;
/** The number of found mails that the suggestions get. */
const MAX_ANSWERED = 5;

/** @typedef {import("./address.js").View} View */
/** @typedef {import("./suggesting.js").Row} Row */

/** @param {{ accountId: string | null, view: View }} props */
export function SearchField({ accountId, view }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const shown = view.kind === "search" ? view.query : "";
  const [text, setText] = useState(shown);
  const { searching, answered, searchSoon, searchNow } = useSearch(accountId);
  const offers = useOffers({ text, accountId, answered });
  const { rows, marked } = offers;
  useEffect(() => {
    if (document.activeElement !== field.current || view.kind !== "search") setText(shown);
  }, [shown, view.kind]);
  // at once: otherwise the next letter would be a command
  useLayoutEffect(() => focusWhenWanted(field.current), [searchWanted.value]);

  const type = (/** @type {string} */ next) => {
    setText(next);
    offers.open();
    searchSoon(next);
  };
  const enter = (/** @type {string} */ query) => {
    setText(query);
    offers.close();
    rememberSearch(query);
    searchNow(query);
    void goToResults(field.current);
  };
  const take = (/** @type {Row} */ row) => {
    if (row.enter) enter(row.query ?? "");
    else if (row.open) {
      offers.close();
      rememberSearch(text);
      field.current?.blur();
      row.open();
    } else {
      type(row.query ?? "");
      field.current?.focus();
    }
  };
  const leave = () => {
    offers.close();
    if (view.kind === "search" || text) {
      setText("");
      searchNow("");
      if (view.kind === "search") navigate(mailPath(accountId, null, underFilter(SECTIONS_VIEW)));
    }
    field.current?.blur();
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (event.isComposing) return;
    if (step && rows.length) offers.mark(step);
    else if (event.key === "ArrowDown") void goToResults(field.current);
    else if (event.key === "Enter" && marked) take(marked);
    else if (event.key === "Enter") enter(text);
    else if (event.key === "Delete" && marked?.kind === "recent") offers.remove(marked);
    else if (event.key === "Escape") {
      if (rows.length && text.trim()) offers.close();
      else leave();
    } else return;
    event.preventDefault();
  };
  return html`<form class="search" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <${Icon} name="search" size=${16} />
    <input
      ref=${field} type="text" class="search-field" role="combobox" aria-label="Search mail" placeholder="Search"
        value=${text} maxlength=${MAX_QUERY_CHARS}
      aria-expanded=${rows.length ? "true" : "false"} aria-controls="search-offers" aria-autocomplete="list"
        aria-keyshortcuts=${keysFor("Mail /")}
      aria-activedescendant=${marked ? offerId(marked) : undefined}
      autocomplete="off" autocapitalize="off" spellcheck=${false} enterkeyhint="search"
      onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => type(event.currentTarget.value)}
      onFocus=${() => text.trim() || offers.open()} onBlur=${offers.close} onKeyDown=${onKeyDown}
    />
    ${searching && html`<i class="search-busy"></i>`}
    ${text && html`<button type="button" class="search-clear" aria-label="Clear the search" onClick=${leave}>
      <${Icon} name="close" size=${14} /></button>`}
    <${Offers} rows=${rows} marked=${marked} press=${offers.press} take=${take} remove=${offers.remove} />
  </form>`;
}

/**
 * The server's remarks on the query: words that it did not understand, mail that it did not search.
 * @param {{ accountId: string | null, view: View }} props
 */
export function SearchNotices({ accountId, view }) {
  if (view.kind !== "search") return html`<div role="status"></div>`;
  const [list] = listsOf(view, accountId);
  void list?.version.value;
  return html`<div role="status">
    ${list?.didYouMean && html`<${DidYouMean} meant=${list.didYouMean} accountId=${accountId} />`}
    ${list?.notices.map((one) => html`<p key=${one} class="strip notice-line"><bdi>${one}</bdi></p>`)}
    <span class="sr-only">${list?.state === "ready" ? `${list.rows.length}${list.complete ? "" : " or more"} found`
      : ""}</span>
  </div>`;
}

/** The suggestion of another spelling. @param {{ meant: string, accountId: string | null }} props */
function DidYouMean({ meant, accountId }) {
  const search = () => {
    showFound(meant, accountId);
    void goToResults(null);
  };
  return html`<p class="strip notice-line"><span>Did you mean <button type="button" class="link" onClick=${search}
    ><bdi>${meant}</bdi></button>?</span></p>`;
}

/**
 * Searches while the person types: after a short pause, and only the newest query is shown.
 * @param {string | null} accountId
 */
function useSearch(accountId) {
  const newest = useRef("");
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const underWay = useRef(/** @type {import("./lists.js").ThreadList | null} */ (null));
  const [searching, setSearching] = useState(false);
  const [answered, setAnswered] = useState({ text: "", mails: /** @type {Thread[]} */ ([]) });
  useEffect(() => () => clearTimeout(timer.current), []);
  /** Cancels the search for the previous text. @param {string} text */
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
      const [list] = listsOf(underFilter({ kind: "search", query: text }), accountId);
      underWay.current = list ?? null;
      if (list?.state === "fresh" || list?.state === "failed") await list.more();
      if (underWay.current === list) underWay.current = null;
      if (newest.current !== text) return; // another one is newer
      setSearching(false);
      setAnswered({ text, mails: list?.rows.slice(0, MAX_ANSWERED) ?? [] });
      showFound(text, accountId);
    }, SETTLE_MS);
  };
  return { searching, answered, searchSoon, searchNow };
}

/** @param {string} text @param {string | null} accountId */
function showFound(text, accountId) {
  const here = mailPlace.value;
  if (!here) return;
  const isSearch = here.view.kind === "search";
  const view = underFilter({ kind: "search", query: text });
  navigate(mailPath(accountId, null, view), { replace: isSearch && here.threadId === null });
}

/** @param {HTMLInputElement | null} field */
function focusWhenWanted(field) {
  if (!searchWanted.value || !field) return;
  field.focus();
  field.select();
}

/**
 * Moves the focus from the field to the first result; waits for it, unless the person goes elsewhere meanwhile.
 * @param {HTMLInputElement | null} field
 */
async function goToResults(field) {
  field?.blur();
  const here = mailPlace.value;
  const found = () => openLists().find((list) => list.rows.length)?.rows[0];
  const [list] = openLists();
  if (here?.view.kind === "search" && list && !found()) {
    list.start();
    await settled(list);
    if (mailPlace.value !== here || !isAtNothing()) return;
  }
  const first = found();
  if (first) select(first.id, { focus: true });
  else keepFocus(); // the row stays selected to which Escape leads back
}

/**
 * Resolves when the first rows of the list are loaded, or it is known that there are none.
 * @param {import("./lists.js").ThreadList} list
 */
function settled(list) {
  return new Promise((done) => {
    const stop = effect(() => {
      void list.version.value;
      if (list.rows.length || list.complete || list.state === "failed") queueMicrotask(() => done(stop()));
    });
  });
}
