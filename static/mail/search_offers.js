// @ts-check
/**
 * The rows of suggestions below the search field: their content, the marked one, and their display. Suggestions from
 * the browser appear with the key press; those from the server appear when they arrive, and never move the marked row.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { features } from "../feature.js";
import { now } from "../now.js";
import { navigate } from "../router.js";
import { query } from "../rpc.js";
import { classes, html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { accounts } from "./accounts.js";
import { mailPath, underFilter } from "./address.js";
import { ownLabels, wantLabels } from "./labels.js";
import { threadsAtHand } from "./lists.js";
import { matches } from "./matching.js";
import { isMe } from "./names.js";
import { wantedPerson } from "./operators.js";
import { plainWords } from "./query_words.js";
import { forgetSearch, recentSearches } from "./recent_searches.js";
import { peopleMatching, settled, suggestionRows } from "./suggesting.js";

/** @typedef {import("./suggesting.js").Row} Row */
/** @typedef {import("./suggesting.js").Writer} Writer */
/** @typedef {import("../ui/palette.js").Command} Command */

const SETTLE_MS = 120;
/** The number of rows of each loaded list that are searched with each key press. */
const MAX_AT_HAND = 300;
const MAX_MAILS = 5;
const MAX_PEOPLE = 6;
const MIN_LOOKUP_CHARS = 2;
const FRESH_MS = 3_000;

/** @type {Record<Row["kind"], string>} */
const ICONS = { go: "search", recent: "clock", chip: "filter", person: "people", word: "label", mail: "inbox",
  page: "page", file: "file" };
/** The kind of a row, for screen readers. @type {Partial<Record<Row["kind"], string>>} */
const SPOKEN = { recent: "searched lately", person: "mail from", mail: "mail", page: "page", file: "file" };

/** @param {{ text: string, accountId: string | null, answered: { text: string, mails: Thread[] } }} props */
export function useOffers({ text, accountId, answered }) {
  const [isOpen, setOpen] = useState(false);
  const [markedId, setMarked] = useState(/** @type {string | null} */ (null));
  const shown = useRef(/** @type {{ text: string, rows: Row[] }} */ ({ text: "", rows: [] }));
  const atHand = isOpen && text.trim() ? threadsAtHand(MAX_AT_HAND) : [];
  const people = usePeople(isOpen ? wantedPerson(text) : "", atHand);
  const things = useThings(isOpen ? plainWords(text) : "");
  const wanted = isOpen ? suggestionRows(text, {
    recent: recentSearches(),
    labels: ownLabels(accountId).map((one) => one.name),
    accounts: (accounts.value ?? []).map((one) => one.address),
    people,
    mails: answered.text === text ? answered.mails : mailsAtHand(atHand, text),
    openMail: (thread) => navigate(mailPath(accountId, thread.id, underFilter({ kind: "search", query: text }))),
    nowMs: now.value,
    things,
  }) : [];
  const before = shown.current.text === text ? shown.current.rows : [];
  const rows = settled(before, wanted, markedId);
  shown.current = { text, rows };
  const at = rows.findIndex((row) => row.id === markedId);
  return {
    rows,
    marked: rows[at] ?? null,
    open() {
      setOpen(true);
      setMarked(null);
      void wantLabels();
    },
    close() {
      setOpen(false);
      setMarked(null);
    },
    /** Marks the next row, or the previous one; beyond the ends none is marked. @param {number} step */
    mark(step) {
      const next = ((at + 1 + step + rows.length + 1) % (rows.length + 1)) - 1;
      setMarked(rows[next]?.id ?? null);
    },
    /** Suggestions that arrive between the press of a button and its release must not move the row. @param {Row} row */
    press(row) {
      setMarked(row.id);
    },
    /** @param {Row} row */
    remove(row) {
      shown.current.rows = rows.filter((one) => one !== row);
      setMarked(shown.current.rows[at]?.id ?? null);
      forgetSearch(row.label);
    },
  };
}

/** @param {Row} row */
export function offerId(row) {
  return `search-offer-${row.id.replace(/[^\w-]/gu, (one) => `_${one.codePointAt(0)}`)}`;
}

/** @param {{ rows: Row[], marked: Row | null } & Record<"press" | "take" | "remove", (row: Row) => void>} props */
export function Offers({ rows, marked, press, take, remove }) {
  const list = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => {
    list.current?.querySelector(".active")?.scrollIntoView({ block: "nearest" });
  }, [marked?.id]);
  const keepFocus = (/** @type {Event} */ event) => event.preventDefault();
  return html`<div id="search-offers" class=${classes({ "search-offers": true, shown: rows.length > 0 })} ref=${list}
    role="listbox" aria-label="Suggestions" onMouseDown=${keepFocus}>
    ${rows.map((row) => html`<div key=${row.id} id=${offerId(row)} role="option" data-kind=${row.kind}
      class=${classes({ "chooser-item": row.kind !== "chip", "search-offer": true, active: row.id === marked?.id })}
      aria-selected=${row.id === marked?.id ? "true" : "false"} onPointerDown=${() => press(row)}
      onClick=${() => take(row)}>
      <${Icon} name=${ICONS[row.kind]} size=${16} />
      ${SPOKEN[row.kind] && html`<span class="sr-only">${SPOKEN[row.kind]} </span>`}
      <span class="search-offer-text">${row.kind === "go" && "Search for "}<bdi>${row.kind === "go"
        ? `“${row.label}”` : row.label}</bdi></span>
      ${row.hint && html` <span class="quiet-text"><bdi>${row.hint}</bdi></span>`}
      ${row.kind === "recent" && html`<span class="search-offer-remove" title="Remove (Delete)" aria-hidden="true"
        onClick=${(/** @type {Event} */ event) => { event.stopPropagation(); remove(row); }}>
        <${Icon} name="close" size=${14} /></span>`}
    </div>`)}
  </div>`;
}

/**
 * Loaded mails, matched by subject and sender: no operators, and no full text.
 * @param {Thread[]} atHand
 * @param {string} text
 * @returns {Thread[]}
 */
function mailsAtHand(atHand, text) {
  const words = plainWords(text);
  if (words.length < MIN_LOOKUP_CHARS || words !== text.trim()) return [];
  return atHand
    .filter(({ hidden, leads, subject, sender }) => !hidden && leads
      && matches(`${subject} ${sender.name} ${sender.address}`, words))
    .slice(0, MAX_MAILS);
}

/**
 * The writers of loaded mails, at once; then people from the server, the likeliest first.
 * @param {string} wanted
 * @param {Thread[]} atHand
 * @returns {Writer[]}
 */
function usePeople(wanted, atHand) {
  const [found, setFound] = useState({ wanted: "", people: /** @type {Writer[]} */ ([]) });
  useEffect(() => {
    let isNewest = true;
    if (wanted) {
      query("people.suggest", { text: wanted, limit: MAX_PEOPLE })
        .then((people) => isNewest && setFound({ wanted, people }), () => undefined);
    }
    return () => {
      isNewest = false;
    };
  }, [wanted]);
  if (!wanted) return [];
  const known = atHand.map((one) => one.sender).filter((one) => !isMe(one.address));
  const server = found.wanted === wanted ? found.people : [];
  const told = new Set(server.map((one) => one.address.toLowerCase()));
  return [...server, ...peopleMatching(known, wanted).filter((one) => !told.has(one.address.toLowerCase()))];
}

/** Pages and files, from the lookups of the features. @param {string} words @returns {Command[]} */
export function useThings(words) {
  const [found, setFound] = useState({ words: "", things: /** @type {Command[]} */ ([]) });
  useEffect(() => {
    if (words.length < MIN_LOOKUP_CHARS) return undefined;
    let isNewest = true;
    const timer = setTimeout(async () => {
      const things = await lookedUp(words);
      if (isNewest) setFound({ words, things });
    }, SETTLE_MS);
    return () => {
      isNewest = false;
      clearTimeout(timer);
    };
  }, [words]);
  return found.words === words ? found.things : [];
}

/** The current or last request: the suggestions below the field and those below the list ask for the same. */
let latest = { words: "", at: 0, answer: Promise.resolve(/** @type {Command[]} */ ([])) };

/** @param {string} words */
function lookedUp(words) {
  if (latest.words !== words || performance.now() - latest.at > FRESH_MS) {
    latest = { words, at: performance.now(), answer: lookUp(words) };
  }
  return latest.answer;
}

/** @param {string} words */
async function lookUp(words) {
  const answers = await Promise.allSettled(features().map((row) => row.lookup?.(words) ?? []));
  return answers.flatMap((one) => (one.status === "fulfilled" ? one.value : [])).filter((one) => one.thing);
}
