// @ts-check
/**
 * The person's correspondents: a search by a word, each with their page, their threads in the inbox, and a button to
 * write.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { mailPath } from "../mail/address.js";
import { composeBlank } from "../mail/compose/compose.js";
import { now } from "../now.js";
import { pageHref } from "../pages/paths.js";
import { navigate } from "../router.js";
import { query } from "../rpc.js";
import { Pending, reasonOf } from "../settings/fetched.js";
import { Avatar } from "../ui/avatar.js";
import { listTime, number, plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { useTypedWords } from "../ui/typed_words.js";
import { peopleHref } from "./address.js";
import { Suggestions } from "./suggestions.js";

const FIELD = "people-find";
const A_TIME = 50;
/** The most that the server returns; people further down are found by a word. */
const MOST = 200;
const MAX_THREADS = 5;

/** @type {import("../keys.js").Shortcut[]} */
export const SHORTCUTS = [
  { keys: ["/"], label: "Find somebody", run: () => document.getElementById(FIELD)?.focus() },
  { keys: ["u", "Escape"], label: "Back to the inbox", run: () => navigate("/p/mail") },
];

/** @param {{ text: string }} props */
export function PeoplePage({ text }) {
  const { words, type, settle } = useTypedWords(text, (next) => navigate(peopleHref(next), { replace: true }));
  const [limit, setLimit] = useState(A_TIME);
  const found = useList(words, limit);
  useLayoutEffect(() => registerKeys("People", SHORTCUTS), []);
  useEffect(() => {
    document.title = "People – svc";
  }, []);
  const people = found.data?.people ?? [];
  const count = `${number(people.length)}${found.data?.more ? " or more" : ""}`;
  const said = people.length ? `${count} ${people.length === 1 ? "person" : "people"}`
    : found.data && words ? "Nobody has these words." : "";
  return html`<main class="panel scrolls"><div class=${`page-frame people-frame${words ? " finding" : ""}`}>
    <h1>People</h1>
    <div class="people-all">
      <input id=${FIELD} class="people-find" type="search" placeholder="Find somebody" aria-label="Find somebody"
        aria-keyshortcuts="/" autocomplete="off" spellcheck=${false} value=${words}
        onInput=${(/** @type {Event} */ event) => {
          setLimit(A_TIME);
          type(/** @type {HTMLInputElement} */ (event.target).value);
        }} onBlur=${settle}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => onKeyDown(event, () => type(""))} />
      <p class="fine" role="status">${said}</p>
      <${Pending} of=${found} what="your people" />
      ${found.data && !people.length && !words && html`<div class="empty">
        <${Icon} name="people" size=${44} />
        <p class="empty-title">Nobody yet</p>
        <p>The people you exchange mail with are listed here, after the first mail.</p>
      </div>`}
      ${people.length > 0 && html`<section class="setting people-list" aria-label="Everybody you write with">
        <ul class="things">${people.map((one) => html`<${PersonRow} key=${one.address} person=${one} />`)}</ul>
        ${found.data?.more && (limit < MOST
          ? html`<button class="button" onClick=${() => setLimit(limit + A_TIME)}>Show more</button>`
          : html`<p class="fine">There are more. A part of their name finds them.</p>`)}
      </section>`}
    </div>
    <section class="setting people-suggested"><${Suggestions} /></section>
  </div></main>`;
}

/** @param {{ person: Correspondent }} props */
function PersonRow({ person }) {
  const [open, setOpen] = useState(false);
  const { address, messages, lastSeenAt, page } = person;
  const name = person.title || person.name || address;
  const id = `inbox-of-${address}`;
  return html`<li class="thing contact">
    <${Avatar} person=${{ ...person, name }} />
    <div class="thing-text">
      <p class="thing-title"><a href=${page ? pageHref(page.path) : allMail(address)}><bdi>${name}</bdi></a></p>
      <p class="fine contact-facts">${name !== address && html`<bdi>${address}</bdi>`}
        <span>${plural(messages, "mail")}, last ${listTime(lastSeenAt, now.value)}</span></p>
    </div>
    <div class="contact-actions">
      <button class="button small" aria-label=${`Write to ${name}`}
        onClick=${() => composeBlank({ to: [{ name: person.name, address }] })}><${Icon} name="edit" size=${16} />
        <span>Write</span></button>
      <button class="button small" aria-expanded=${open ? "true" : "false"} aria-controls=${id}
        aria-label=${`In the inbox, from ${name}`} onClick=${() => setOpen(!open)}><${Icon} name="inbox" size=${16} />
        <span>In the inbox</span></button>
    </div>
    <div id=${id} class="contact-mail" hidden=${!open}>
      ${open && html`<${Inbox} address=${address} name=${name} />`}</div>
  </li>`;
}

/**
 * The newest of a correspondent's threads that are still in the inbox.
 * @param {{ address: string, name: string }} props
 */
function Inbox({ address, name }) {
  const [found, setFound] = useState(/** @type {Thread[] | null} */ (null));
  const [problem, setProblem] = useState("");
  const load = async () => {
    try {
      setFound((await query("mail.search", { query: `from:${address} in:inbox`, limit: MAX_THREADS })).threads);
      setProblem("");
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  useEffect(() => void load(), [address]);
  return html`<${Pending} of=${{ data: found, problem, load }} what="their mail" />
    ${found && !found.length && html`<p class="quiet-text">No mail from them is in the inbox.</p>`}
    ${found && found.length > 0 && html`<ul>${found.map((thread) => html`<li key=${thread.id}>
      <a class="contact-thread" href=${mailPath(null, thread.id)}>
        <span class="contact-subject">${thread.unread && html`<span class="sr-only">Unread, </span>`}<bdi
          class=${thread.unread ? "fresh" : ""}>${thread.subject || "(no subject)"}</bdi></span>
        <span class="fine">${listTime(thread.lastMessageAt, now.value)}</span></a></li>`)}</ul>`}
    <p><a href=${allMail(address)}>All mail from ${name}</a></p>`;
}

/** Escape empties the field, and leaves it when it is empty. @param {KeyboardEvent} event @param {() => void} clear */
function onKeyDown(event, clear) {
  if (event.key !== "Escape" || event.isComposing) return;
  event.stopPropagation(); // outside of the field it leaves the page
  const field = /** @type {HTMLInputElement} */ (event.target);
  if (field.value) clear();
  else field.blur();
}

/** Fetches the list; only the answer to the newest query counts. @param {string} text @param {number} limit */
function useList(text, limit) {
  const [data, setData] = useState(/** @type {OutputOf<"people.list"> | null} */ (null));
  const [problem, setProblem] = useState("");
  const asked = useRef(0);
  const load = async () => {
    const mine = ++asked.current;
    try {
      const found = await query("people.list", { text, limit });
      if (mine !== asked.current) return;
      setData(found);
      setProblem("");
    } catch (error) {
      if (mine === asked.current) setProblem(reasonOf(error));
    }
  };
  useEffect(() => void load(), [text, limit]);
  return { data, problem, load };
}

/** @param {string} address */
function allMail(address) {
  return mailPath(null, null, { kind: "search", query: `from:${address}` });
}
