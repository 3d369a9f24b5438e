// @ts-check
/**
 * Chooses a time: a field that understands words, and below it suggestions, each in words and as a time. The meaning of
 * the typed text is shown before Enter takes it.
 */
import { useState } from "preact/hooks";
import { Chooser } from "../../ui/chooser.js";
import { firstDayOfWeek, isDayFirst } from "../../ui/dates.js";
import { html } from "../../ui/html.js";
import { dayWords, whenWords, zoneWords } from "../compose/when.js";
import { parseTime } from "./parse.js";
import { presets } from "./presets.js";

/** @param {{ id: string, label: string, choose: (at: Date) => void }} props */
export function TimeChooser({ id, label, choose }) {
  const [opened] = useState(() => new Date());
  const [text, setText] = useState("");
  const [late, setLate] = useState(false);
  const wanted = text.trim().toLowerCase();
  const typed = parseTime(wanted, new Date(), { dayFirst: isDayFirst(),
    weekStart: firstDayOfWeek() });
  const offered = presets(opened).filter(({ name, at }) => name.toLowerCase().startsWith(wanted)
    && at.getTime() !== typed.at?.getTime());
  const items = [...(typed.at ? [{ id: "typed", name: dayWords(typed.at, opened), at: typed.at }] : []), ...offered];
  const take = (/** @type {typeof items[number]} */ { at }) => {
    if (at.getTime() > Date.now()) choose(at);
    else setLate(true); // it was open for a long time
  };
  const write = (/** @type {string} */ words) => {
    setLate(false);
    setText(words);
  };
  return html`<div class="times">
    <${Chooser} id=${id} label=${label} placeholder="fri 9am, in 2 hours, 12 Dec" text=${text} setText=${write}
      items=${items} choose=${take} nothing=${typed.problem || "Not understood."}
      show=${(/** @type {typeof items[number]} */ item) => html`<span class="chooser-text">${item.name}</span>
        <span class="quiet-text times-when">${whenWords(item.at, opened)}</span>`} />
    ${late && html`<p class="form-problem" role="alert">That is in the past.</p>`}
    <p class="fine times-zone">Time zone: ${zoneWords(items[0]?.at ?? opened)}</p>
  </div>`;
}
