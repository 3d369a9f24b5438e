// @ts-check
/** The two dialogs for an action: which label, and until when. They say for how many threads. */
import { useEffect, useState } from "preact/hooks";
import { plural } from "../ui/format.js";
import { Chooser } from "../ui/chooser.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { Modal } from "../ui/modal.js";
import { label } from "./actions.js";
import { currentAccountId, goOn } from "./moving.js";
import { picker, snoozeThese } from "./commands.js";
import { whenWords } from "./compose/when.js";
import { actOnAll, labelAll } from "./everything.js";
import { labels, labelsProblem, ownLabels, wantLabels } from "./labels.js";
import { everything, standForAll } from "./selection.js";
import { chipStyle } from "./row.js";
import { TimeChooser } from "./times/chooser.js";

/** The colours of a new label: tones that the providers also have. */
const COLOURS = ["#4a86e8", "#16a766", "#f2a60d", "#cc3a21", "#a479e2", "#e07798", "#43d692", "#666666"];
const MAX_NAME_CHARS = 225;

export function Pickers() {
  const open = picker.value;
  if (!open) return null;
  const close = () => {
    picker.value = null;
  };
  const whole = standForAll(open.threads) ? everything.value : null;
  const [first, second] = open.threads;
  const about = whole || second ? plural(whole?.count ?? open.threads.length, "thread")
    : `“${first?.subject || "(no subject)"}”`;
  return open.kind === "label"
    ? html`<${LabelPicker} threads=${open.threads} about=${about} close=${close} />`
    : html`<${SnoozePicker} threads=${open.threads} about=${about} close=${close} />`;
}

/**
 * Closes the dialog first: only then can the next row take the focus.
 * @param {() => void} close
 * @param {() => void} act
 */
function after(close, act) {
  close();
  setTimeout(act);
}

/** @param {{ threads: Thread[], about: string, close: () => void }} props */
function LabelPicker({ threads, about, close }) {
  const [text, setText] = useState("");
  const [colour, setColour] = useState("");
  useEffect(() => void wantLabels(), []);
  const wanted = text.trim().replace(/\s+/gu, " ").slice(0, MAX_NAME_CHARS);
  const accountId = currentAccountId();
  const known = ownLabels(accountId);
  const found = known.filter((one) => one.name.toLowerCase().includes(wanted.toLowerCase()));
  const isAll = standForAll(threads);
  const state = (/** @type {string} */ name) => {
    if (isAll) return everything.value?.list.title.toLowerCase() === name.toLowerCase() ? "true" : "false";
    const count = threads.filter((one) =>
      one.labels.some((mine) => mine.name.toLowerCase() === name.toLowerCase())).length;
    return count === 0 ? "false" : count === threads.length ? "true" : "mixed";
  };
  const isNew = wanted !== "" && !known.some((one) => one.name.toLowerCase() === wanted.toLowerCase());
  const rank = { true: 0, mixed: 0, false: 1 };
  const items = [
    ...found.map((one) => ({ id: one.name, name: one.name, color: one.color ?? null, create: false }))
      .sort((a, b) => rank[state(a.name)] - rank[state(b.name)]),
    ...(isNew && labels.value !== null ? [{ id: "\0new", name: wanted, color: colour || null, create: true }] : []),
  ];
  const choose = (/** @type {typeof items[number]} */ item, /** @type {boolean} */ file) =>
    after(close, () => {
      const on = file || item.create || state(item.name) !== "true";
      const how = { color: item.create && colour ? colour : undefined, file };
      if (isAll) void labelAll(item.name, on, how);
      else goOn(threads, () => label(threads, item.name, on, how));
    });
  return html`<${Modal} label="Labels" class="picker" close=${close}>
    <p class="picker-about">Labels of <bdi>${about}</bdi></p>
    <p class="picker-hint"><kbd>Shift</kbd> <kbd>Enter</kbd> archives, too</p>
    <${Chooser} id="label-choice" label="Label" placeholder="Find or make a label" text=${text} setText=${setText}
      items=${items} choose=${choose}
      checked=${(/** @type {typeof items[number]} */ item) => (item.create ? undefined : state(item.name))}
      nothing=${labels.value === null ? (labelsProblem.value ? `Could not load the labels: ${labelsProblem.value}`
        : "Loading the labels…") : "No labels yet. Type a name to make one."}
      show=${(/** @type {typeof items[number]} */ item) => html`<i class="label-dot" style=${chipStyle(item)}></i>
        <span class="chooser-text">${item.create ? html`Make the label “<bdi>${item.name}</bdi>”`
          : html`<bdi>${item.name}</bdi>`}</span>
        ${!item.create && state(item.name) !== "false"
          && html`<${Icon} name=${state(item.name) === "true" ? "check" : "minimise"} size=${16} />`}`}
    />
    ${isNew && html`<fieldset class="swatches"><legend>Colour of the new label</legend>
      ${COLOURS.map((one, index) => html`<label key=${one} style=${{ "--chip": one }}>
        <input type="radio" name="label-colour" value=${one} checked=${colour === one} onChange=${() => setColour(one)}
          aria-label=${`Colour ${index + 1}`} />
      </label>`)}
    </fieldset>`}
  </${Modal}>`;
}

/** @param {{ threads: Thread[], about: string, close: () => void }} props */
function SnoozePicker({ threads, about, close }) {
  const choose = (/** @type {Date} */ at) =>
    after(close, () => {
      const [until, words] = [at.toISOString(), whenWords(at, new Date())];
      if (standForAll(threads)) actOnAll("snooze", { until, words });
      else snoozeThese(threads, until, words);
    });
  return html`<${Modal} label="Snooze" class="picker" close=${close}>
    <p class="picker-about">Snooze <bdi>${about}</bdi> until</p>
    <${TimeChooser} id="snooze" label="Snooze until" choose=${choose} />
  </${Modal}>`;
}
