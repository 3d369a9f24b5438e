// @ts-check
/** Best matches: finds mail and pages by meaning and by words. Searches only on request: each search may cost money. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { mailPath } from "../mail/address.js";
import { now } from "../now.js";
import { pageHref } from "../pages/paths.js";
import { navigate } from "../router.js";
import { query } from "../rpc.js";
import { reasonOf } from "../settings/fetched.js";
import { listTime, plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

/** @typedef {OutputOf<"meaning.search">} Found */

const FIELD = "best-find";
const MAX_CHARS = 500;

/** @type {import("../keys.js").Shortcut[]} */
export const SHORTCUTS = [
  { keys: ["/"], label: "Ask for something else", run: () => document.getElementById(FIELD)?.focus() },
  { keys: ["u", "Escape"], label: "Back to the inbox", run: () => navigate("/p/mail") },
];

/** @param {string} text */
export function bestHref(text) {
  return `/p/mail/best?q=${encodeURIComponent(text)}`;
}

/** @param {{ text: string }} props */
export function BestPage({ text }) {
  const [typed, setTyped] = useState(text);
  const { found, problem, busy } = useBest(text);
  useEffect(() => setTyped(text), [text]);
  useLayoutEffect(() => registerKeys("Best match", SHORTCUTS), []);
  useEffect(() => {
    document.title = text ? `${text} – Best match – svc` : "Best match – svc";
  }, [text]);
  const ask = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (typed.trim()) navigate(bestHref(typed), { replace: typed === text });
  };
  const some = found && found.threads.length + found.pages.length > 0;
  const count = found && `${plural(found.threads.length, "thread")} and ${plural(found.pages.length, "page")}`;
  const said = busy ? "Searching" : !found ? "" : some ? `${count}, the best first` : "Nothing found.";
  return html`<main class="panel scrolls"><div class="page-frame">
    <h1>Best match</h1>
    <form class="best-form" role="search" onSubmit=${ask}>
      <input id=${FIELD} class="best-find" type="search" aria-label="What is it about?" placeholder="What is it about?"
        aria-keyshortcuts="/" autocomplete="off" spellcheck=${false} maxlength=${MAX_CHARS} value=${typed}
        onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setTyped(event.currentTarget.value)} />
      <button type="submit" class="button primary">Search</button>
    </form>
    ${text && html`<p class="fine"><a href=${mailPath(null, null, { kind: "search", query: text })}>Newest first, by
      words alone</a></p>`}
    <p class="fine" role="status">${said}</p>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    ${found?.problem && html`<div class="notice"><div><p>${found.problem}</p>
      <p><a href="/settings/meaning">Settings, Search by meaning</a></p></div></div>`}
    ${found?.notices.map((one) => html`<p key=${one} class="fine"><bdi>${one}</bdi></p>`)}
    ${found && found.pages.length > 0 && html`<${Pages} found=${found} />`}
    ${found && found.threads.length > 0 && html`<${Threads} found=${found} />`}
  </div></main>`;
}

/** @param {{ found: Found }} props */
function Threads({ found }) {
  return html`<section class="setting" aria-label="Mail"><h2>Mail</h2>
    <ul class="things">${found.threads.map((one) => html`<li key=${one.id} class="thing"><a class="best-row"
      href=${mailPath(null, one.id)}>
      <span class="thing-text"><span><bdi>${one.subject || "(no subject)"}</bdi></span>
        <span class="fine"><bdi>${one.sender.name || one.sender.address}</bdi>,${" "}
          ${listTime(one.lastMessageAt, now.value)}</span>
        <span class="fine"><bdi>${one.match.snippet.map((piece, index) => (piece.hit
          ? html`<mark key=${index}>${piece.text}</mark>` : piece.text))}</bdi></span></span>
      <${Meant} near=${found.near.includes(one.id)} /></a></li>`)}</ul>
  </section>`;
}

/** @param {{ found: Found }} props */
function Pages({ found }) {
  return html`<section class="setting" aria-label="Pages"><h2>Pages</h2>
    <ul class="things">${found.pages.map((one) => html`<li key=${one.id} class="thing"><a class="best-row"
      href=${pageHref(one.path)}>
      <span class="thing-text"><span><bdi>${one.title || one.path}</bdi></span>
        <span class="fine"><bdi>${one.snippet}</bdi></span></span>
      <${Meant} near=${found.near.includes(one.id)} /></a></li>`)}</ul>
  </section>`;
}

/** @param {{ near: boolean }} props */
function Meant({ near }) {
  return near && html`<span class="badge"><${Icon} name="search" size=${12} /> by meaning</span>`;
}

/** The answer to the newest query only; an empty query is not sent. @param {string} text */
function useBest(text) {
  const [found, setFound] = useState(/** @type {Found | null} */ (null));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const asked = useRef(0);
  useEffect(() => {
    const mine = ++asked.current;
    setFound(null);
    setProblem("");
    setBusy(Boolean(text.trim()));
    if (!text.trim()) return undefined;
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    query("meaning.search", { query: text, timeZone }).then((answer) => {
      if (mine === asked.current) setFound(answer);
    }, (error) => {
      if (mine === asked.current) setProblem(reasonOf(error));
    }).finally(() => {
      if (mine === asked.current) setBusy(false);
    });
    return () => {
      asked.current += 1;
    };
  }, [text]);
  return { found, problem, busy };
}
