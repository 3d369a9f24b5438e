// @ts-check
/** Choosing a time to send: presets, or any day and time of the browser's zone. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { chosen, dateField, firstChoice, presets, whenWords, zoneWords } from "./when.js";

/**
 * @param {{ title: string, choose: (sendAt: string) => void, close: () => void }} props `close`: without a choice
 */
export function LaterPanel({ title, choose, close }) {
  const panel = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [opened] = useState(() => new Date());
  useLayoutEffect(() => {
    const before = document.activeElement;
    const mine = panel.current;
    mine?.querySelector("button")?.focus();
    return () => {
      const lost = document.activeElement === document.body || mine?.contains(document.activeElement);
      if (lost && before instanceof HTMLElement) before.focus();
    };
  }, []);
  useEffect(() => {
    const outside = (/** @type {Event} */ event) => {
      if (event.target instanceof Node && !panel.current?.contains(event.target)) close();
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, []);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    close();
  };
  return html`<div class="later" role="dialog" aria-label=${title} ref=${panel} onKeyDown=${onKeyDown}>
    <p class="later-title" aria-hidden="true">${title}</p>
    ${presets(opened).map(
      ({ name, at }) => html`<button type="button" key=${name} class="later-preset"
        onClick=${() => choose(at.toISOString())}>
        <span>${name}</span><span class="later-when">${whenWords(at, opened)}</span>
      </button>`,
    )}
    <${Custom} choose=${choose} opened=${opened} />
  </div>`;
}

/** @param {{ choose: (sendAt: string) => void, opened: Date }} props */
function Custom({ choose, opened }) {
  const [first] = useState(() => firstChoice(opened));
  const [date, setDate] = useState(first.date);
  const [time, setTime] = useState(first.time);
  const [refused, setRefused] = useState("");
  const { at, moved } = chosen(date, time, opened);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const result = chosen(date, time, new Date()); // the panel may have stood open for long
    if (result.at) choose(result.at.toISOString());
    else setRefused(result.problem);
  };
  const set = (/** @type {(value: string) => void} */ keep) =>
    (/** @type {{ currentTarget: HTMLInputElement }} */ event) => {
    setRefused("");
    keep(event.currentTarget.value);
  };
  return html`<form class="later-custom" onSubmit=${submit} noValidate>
    <label>Day <input type="date" required min=${dateField(opened)} value=${date} onInput=${set(setDate)} /></label>
    <label>Time <input type="time" required value=${time} onInput=${set(setTime)} /></label>
    <button class="button small primary"><${Icon} name="clock" size=${16} /> Set</button>
    <p class="fine">${at && moved ? `Clocks change then: it becomes ${whenWords(at, opened)}. ` : ""}
      Time zone: ${zoneWords(at ?? opened)}</p>
    ${refused && html`<p class="form-problem" role="alert">${refused}</p>`}
  </form>`;
}
