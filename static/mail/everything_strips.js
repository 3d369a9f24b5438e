// @ts-check
/** Strips above the list: one for picking everything, and one for each running step on all that match. */
import { number, plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { acting, actsNext, counting, pickEverything, progressWords, stop } from "./everything.js";
import { FILTER_WORDS } from "./filters.js";
import { clearPicks, everything, holdsMore, openLists, picked, pickedList } from "./selection.js";

/** @typedef {import("./lists.js").ThreadList} ThreadList */

/** Says what is picked if that is everything loaded, and offers to pick the rest. */
export function PickStrip() {
  if (picked.value.size) for (const list of openLists()) void list.version.value;
  const list = picked.value.size ? pickedList() : null;
  const whole = everything.value;
  const words = list && (whole ? wholeWords(whole) : actsNext.value
    ? `Counting all ${placeWords(list)}. Your action follows.` : loadedWords(list));
  return html`<span class="sr-only" role="status">${words}</span>
    ${list && (whole || holdsMore(list)) && html`<div class="strip pick-strip">
      <span aria-hidden="true">${words}</span>
      ${whole ? html`<button class="button small" onClick=${clearPicks}>Pick nothing</button>`
        : html`<button class="button small" disabled=${counting.value !== null} title="Pick all that match (*)"
          onClick=${() => void pickEverything(list)}>${counting.value ? "Counting…"
            : html`Pick all <bdi>${placeWords(list)}</bdi>`}</button>`}
    </div>`}`;
}

/** Steps on all that match that go on in the background. */
export function ActingStrips() {
  return [...acting.value.values()].map((step) => html`<div key=${step.id} class="strip reading acting-strip">
    <progress max=${step.total} value=${step.taken} aria-label=${progressWords(step)}></progress>
    <span>${progressWords(step)}</span>
    ${step.state === "working" && html`<button class="button small" onClick=${() => void stop(step)}>Stop</button>`}
  </div>`);
}

/** @param {import("./selection.js").Everything} whole */
function wholeWords({ list, count, complete, leftOut }) {
  const which = complete ? count === 1 ? "The only thread" : `All ${number(count)} threads`
    : `The first ${number(count)} threads`;
  return `${which} ${placeWords(list)} ${count === 1 ? "is" : "are"} picked.${leftOut
    ? " Those that you may only read are left out." : ""}`;
}

/** @param {ThreadList} list */
function loadedWords(list) {
  const here = picked.value.size;
  if (list.rows.length > here) return `The first ${plural(here, "thread")} ${here === 1 ? "is" : "are"} picked.`;
  return holdsMore(list) ? `${here === 1 ? "The thread" : `The ${number(here)} threads`} loaded so far ${here === 1
    ? "is" : "are"} picked.` : `All ${plural(here, "thread")} ${placeWords(list)} picked.`;
}

/** The place of the threads in words, after “threads”. @param {ThreadList} list */
function placeWords({ source, title }) {
  const only = source.only ? `among ${FILTER_WORDS[source.only]} ` : "";
  if (source.name === "skipped") return `${only}that skipped the inbox`;
  return only + (source.name === "search" ? "that were found" : `in ${title}`);
}
