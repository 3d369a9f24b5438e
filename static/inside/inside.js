// @ts-check
/** The running service: its tasks, its queues, and its last errors. Refreshes itself. */
import { useEffect, useState } from "preact/hooks";
import { accountOf } from "../mail/accounts.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { ago, fileSize, fullTime, number, plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { matching, since, waits } from "./tree.js";

/** @typedef {OutputOf<"inside.look">} Inside */

const AGAIN_MS = 2_000;
const WELL = ["running", "starting", "stopped"];

export function InsideSection() {
  const look = useFetched("inside.look");
  const [paused, setPaused] = useState(false);
  const { data, load } = look;
  useEffect(() => {
    if (paused) return undefined;
    const timer = setInterval(() => document.visibilityState === "visible" && void load(), AGAIN_MS);
    return () => clearInterval(timer);
  }, [load, paused]);
  return html`<section class="setting" aria-labelledby="inside-title">
      <h2 id="inside-title">Now</h2>
      <p class="fine">Names of functions, files and lines, and no text of anybody’s mail, pages or files.</p>
      <div><button class="button" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>
        ${paused ? "Go on" : "Hold this moment"}</button></div>
      <${Pending} of=${look} what="the inside" />
      ${data && html`<${Facts} of=${data} />`}
    </section>
    ${data && html`<${Tasks} of=${data} /><${Lines} of=${data} /><${Parts} of=${data} /><${Accounts} of=${data} />
      <${Stalls} of=${data} /><${Troubles} of=${data} />`}`;
}

/** @param {{ of: Inside }} props */
function Facts({ of: { version, upSeconds, memoryBytes, descriptors, connections, connectionsMost } }) {
  const facts = [
    ["Version", version],
    ["Runs for", since(upSeconds)],
    ["Memory", memoryBytes === null ? "not told by this system" : fileSize(memoryBytes)],
    ["Open files", descriptors === null ? "not told by this system" : number(descriptors)],
    ["Connections", connections === null || connectionsMost === null ? "kept by the other front"
      : `${number(connections)} of ${number(connectionsMost)}`],
  ];
  return html`<dl class="inside-facts">${facts.map(([name, value]) => html`<div key=${name}>
    <dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** @param {{ of: Inside }} props */
function Tasks({ of: { tasks, cut } }) {
  const [words, setWords] = useState("");
  const shown = matching(tasks, words);
  return html`<section class="setting" aria-labelledby="inside-tasks">
    <h2 id="inside-tasks">Tasks</h2>
    <label class="field inside-find"><span class="sr-only">Find a task</span>
      <input type="search" placeholder="Find a task" value=${words}
        onInput=${(/** @type {InputEvent & { currentTarget: HTMLInputElement }} */ event) =>
          setWords(event.currentTarget.value)} /></label>
    <div class="inside-wide" role="region" aria-label="The tree of tasks" tabindex="0"><table
      class="inside-tree">
      <thead><tr><th>Task</th><th>Since</th><th>Waits in, for</th></tr></thead>
      <tbody>${shown.map((row, index) => html`<${TaskLine} key=${index} row=${row} />`)}</tbody></table></div>
    ${shown.length === 0 && html`<p class="quiet-text">No task of that name.</p>`}
    <p class="fine">“At least”: such a task has not run since you opened this page, and its time may be up to ten
      seconds more.</p>
    ${cut && html`<p class="fine">There are more tasks than are shown here.</p>`}
  </section>`;
}

/** @param {{ row: Inside["tasks"][number] }} props */
function TaskLine({ row: { depth, kind, name, waitsIn, waitsFor, seconds, atLeast, count } }) {
  return html`<tr data-kind=${kind}>
    <td style=${{ "--depth": depth }}>${called(kind, name, count)}</td>
    <td>${seconds === null ? "" : waits(seconds, atLeast)}</td><td>${waitsIn}
      ${waitsFor && html`<span class="quiet-text">${waitsFor}</span>`}</td></tr>`;
}

/** @param {Inside["tasks"][number]["kind"]} kind @param {string} name @param {number} count */
function called(kind, name, count) {
  if (kind === "nursery") return `nursery: ${plural(count, "task")}`;
  return kind === "more" ? `${plural(count, "more task")} ${name}` : name;
}

/** @param {{ of: Inside }} props */
function Lines({ of: { lines } }) {
  return html`<section class="setting" aria-labelledby="inside-lines">
    <h2 id="inside-lines">Queues</h2>
    <div class="inside-wide" role="region" aria-label="All queues" tabindex="0"><table>
      <thead><tr><th>Queue</th><th>Waiting</th><th>At work</th><th>At most</th></tr></thead>
      <tbody>${lines.map(({ name, title, waiting, busy, most }) => html`<tr key=${name} data-waits=${waiting > 0}>
        <td title=${title}>${name}</td><td>${number(waiting)}</td><td>${number(busy)}</td>
        <td>${most === 0 ? "" : number(most)}</td></tr>`)}</tbody></table></div>
  </section>`;
}

/** The subsystems; those that do not run come first. @param {{ of: Inside }} props */
function Parts({ of: { parts } }) {
  const rank = (/** @type {Inside["parts"][number]} */ one) => (WELL.includes(one.phase) ? 1 : 0);
  return html`<section class="setting" aria-labelledby="inside-parts">
    <h2 id="inside-parts">Subsystems</h2>
    <div class="inside-wide" role="region" aria-label="All subsystems" tabindex="0"><table>
      <thead><tr><th>Subsystem</th><th>State</th><th>Restarts</th><th>Crashed of</th></tr></thead>
      <tbody>${[...parts].sort((a, b) => rank(a) - rank(b)).map(({ name, phase, restarts, lastError }) => html`
        <tr key=${name} data-well=${WELL.includes(phase)}><td>${name}</td><td>${phase}</td>
          <td>${restarts === 0 ? "" : number(restarts)}</td><td>${lastError}</td></tr>`)}</tbody></table></div>
  </section>`;
}

/** @param {{ of: Inside }} props */
function Accounts({ of: { accounts, at } }) {
  return html`<section class="setting" aria-labelledby="inside-accounts">
    <h2 id="inside-accounts">Mail accounts</h2>
    ${accounts.length === 0 && html`<p class="quiet-text">None is connected.</p>`}
    ${accounts.length > 0 && html`<div class="inside-wide" role="region" aria-label="All mail accounts"
      tabindex="0"><table>
      <thead><tr><th>Account</th><th>Owner</th><th>Provider</th><th>State</th><th>Synced</th></tr></thead>
      <tbody>${accounts.map(({ id, owner, provider, state, lastSyncedAt }) => html`<tr key=${id}>
        <td title=${id}>${accountOf(id)?.address ?? id}</td><td>${owner || "nobody yet"}</td>
        <td>${provider}</td><td>${state}</td>
        <td>${lastSyncedAt === null ? "never" : ago(lastSyncedAt, Date.parse(at))}</td></tr>`)}</tbody>
    </table></div>`}
  </section>`;
}

/** @param {{ of: Inside }} props */
function Stalls({ of: { stalls } }) {
  return html`<section class="setting" aria-labelledby="inside-stalls">
    <h2 id="inside-stalls">Stalls</h2>
    <p class="fine">What held the event loop for 100 ms or longer, so that nobody else was served.</p>
    ${stalls.length === 0 ? html`<p class="quiet-text">None since the start.</p>`
      : html`<ul class="things">${stalls.map(({ at, tookMs, stack }) => html`<li class="thing" key=${at}>
        <details class="inside-stall"><summary>${number(tookMs)} ms, until ${fullTime(at)}</summary>
          ${stack.length === 0 ? html`<p class="quiet-text">The place is not known.</p>`
            : html`<pre tabindex="0">${stack.join("\n")}</pre>`}</details></li>`)}</ul>`}
  </section>`;
}

/** @param {{ of: Inside }} props */
function Troubles({ of: { troubles } }) {
  return html`<section class="setting" aria-labelledby="inside-troubles">
    <h2 id="inside-troubles">Last warnings and errors</h2>
    <p class="fine">The log has all of them, with more of each.</p>
    ${troubles.length === 0 ? html`<p class="quiet-text">None since the start.</p>`
      : html`<ul class="things">${troubles.map(({ at, level, event, detail }, index) => html`
        <li class="thing inside-trouble" key=${index} data-level=${level}><div class="thing-text">
          <p class="thing-title">${event} <span class="badge">${level}</span></p>
          <p class="fine">${fullTime(at)}</p><p>${detail}</p></div></li>`)}</ul>`}
  </section>`;
}
