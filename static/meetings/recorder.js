// @ts-check
/** The recorder on the page of meetings: the title, what is recorded, the sound level, and the transcript so far. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { canShareTab } from "./capture.js";
import { giveUp, goOn, level, pause, problem, recording, rename, start, stop } from "./recording.js";
import { clock, spokenClock } from "./words.js";

const MAX_TITLE = 160;
/** From so many unconfirmed seconds on, the recorder tells the person. */
const WORTH_TELLING_S = 3;
const STATE_WORDS = {
  starting: "Waiting for the browser", recording: "Recording", paused: "Paused", stopping: "Writing down the rest",
};

export function Recorder() {
  return html`<section class="setting meeting-recorder" aria-labelledby="recorder-title">
    <h2 id="recorder-title">Record a meeting</h2>
    ${recording.value ? html`<${Running} now=${recording.value} />` : html`<${Begin} />`}
  </section>`;
}

function Begin() {
  const [title, setTitle] = useState("");
  const [withTab, setWithTab] = useState(false);
  const begin = (/** @type {Event} */ event) => {
    event.preventDefault();
    void start({ title: title.trim(), withTab });
  };
  return html`<form class="meeting-begin" onSubmit=${begin}>
    <div class="meeting-title">
      <label class="field grow"><span>Title</span>
        <input type="text" maxlength=${MAX_TITLE} autocomplete="off" placeholder="Meeting" value=${title}
          onInput=${(/** @type {Event} */ event) => setTitle(/** @type {HTMLInputElement} */ (event.target).value)} />
      </label>
      <button type="submit" class="button primary"><${Icon} name="microphone" /> Record</button>
    </div>
    ${canShareTab() && html`<label class="choice"><input type="checkbox" checked=${withTab}
      onChange=${() => setWithTab(!withTab)} /><span>Also the sound of a tab, such as a call in the browser</span>
    </label>`}
    ${problem.value && html`<p class="form-problem" role="alert">${problem.value}</p>`}
    <p class="fine">Tell everybody first: in many countries the law wants it. The sound is sent here while you
      record.</p>
  </form>`;
}

/** @param {{ now: import("./recording.js").Recording }} props */
function Running({ now }) {
  const { state, title, seconds, lines, partial } = now;
  const isOn = state === "recording" || state === "paused";
  return html`<div class="meeting-running" data-state=${state}>
    <div class="meeting-state">
      <span class="meeting-dot" aria-hidden="true"></span>
      <span role="status">${STATE_WORDS[state]}</span>
      <span class="meeting-clock" role="timer" aria-label=${spokenClock(seconds)}>${clock(seconds)}</span>
      <${Meter} />
    </div>
    ${isOn && html`<${Title} title=${title} />`}
    <${Words} lines=${lines} partial=${partial} />
    <${Link} now=${now} />
    ${now.trouble && html`<p class="fine" role="status">${now.trouble}</p>`}
    ${now.problem && html`<div class="notice bad" role="alert"><${Icon} name="warning" /><p>${now.problem}</p></div>`}
    ${isOn && html`<p class="meeting-buttons">
      ${state === "recording" ? html`<button class="button" onClick=${pause}>Pause</button>`
        : html`<button class="button" onClick=${goOn}>Go on</button>`}
      <button class="button primary" onClick=${stop}>Stop</button></p>`}
  </div>`;
}

/** Keeps the typed text until it is saved, because each new word of the transcript renders the page again.
 * @param {{ title: string }} props */
function Title({ title }) {
  const [typed, setTyped] = useState(/** @type {string | null} */ (null));
  const textOf = (/** @type {Event} */ event) => /** @type {HTMLInputElement} */ (event.target).value;
  const take = (/** @type {Event} */ event) => {
    rename(textOf(event).trim() || "Meeting");
    setTyped(null);
  };
  return html`<label class="field"><span>Title</span>
    <input type="text" maxlength=${MAX_TITLE} autocomplete="off" placeholder="Meeting" value=${typed ?? title}
      onInput=${(/** @type {Event} */ event) => setTyped(textOf(event))} onChange=${take} /></label>`;
}

function Meter() {
  const shown = Math.min(1, Math.sqrt(level.value));
  return html`<span class="meeting-meter" role="img" aria-label="How loud it is">
    <span style=${`transform: scaleX(${shown.toFixed(2)})`}></span></span>`;
}

/** @param {{ lines: import("./recording.js").Line[], partial: string }} props */
function Words({ lines, partial }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const follows = useRef(true);
  useLayoutEffect(() => {
    const { current } = box;
    if (current && follows.current) current.scrollTop = current.scrollHeight;
  }, [lines.length, partial]);
  if (!lines.length && !partial) return html`<p class="quiet-text">What is said appears here.</p>`;
  const onScroll = () => {
    const { current } = box;
    if (current) follows.current = current.scrollHeight - current.scrollTop - current.clientHeight < 40;
  };
  return html`<div class="meeting-words" ref=${box} tabindex="0" role="log" aria-label="What was said"
    onScroll=${onScroll}>
    ${lines.map((line) => html`<p key=${line.start}><span class="meeting-time">${clock(line.start)}</span>
      <span>${line.speaker && html`<b>${line.speaker}: </b>`}${line.text}</span></p>`)}
    ${partial && html`<p class="meeting-partial"><span class="meeting-time"></span><span>${partial}</span></p>`}
  </div>`;
}

/** @param {{ now: import("./recording.js").Recording }} props */
function Link({ now: { linked, waiting, lost, state } }) {
  const seconds = (/** @type {number} */ n) => plural(Math.round(n), "second");
  if (linked && lost < 1 && (waiting < WORTH_TELLING_S || state !== "stopping")) return null;
  return html`<div class="notice bad" role="status"><${Icon} name="warning" /><div>
    ${!linked && html`<p>The link to the server is lost. The recording goes on here, ${seconds(waiting)} wait, and
      are sent when it is back.</p>`}
    ${linked && waiting >= WORTH_TELLING_S && html`<p>${seconds(waiting)} are on their way.</p>`}
    ${lost >= 1 && html`<p>${seconds(lost)} are lost: this browser can't hold more.</p>`}
    ${state === "stopping" && !linked && html`<p><button class="button small" onClick=${giveUp}>Wait no longer</button>
      </p>`}</div></div>`;
}
