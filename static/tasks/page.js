// @ts-check
/**
 * The task queue: decisions that wait, mail that is scheduled, held, in trouble or just sent, and the actions on each.
 */
import { useEffect, useLayoutEffect } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { now } from "../now.js";
import { navigate } from "../router.js";
import { WaitingApprovals } from "../runs/approval_card.js";
import { approvals } from "../runs/approvals.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { loadOutgoing, outgoing, outgoingProblem } from "./outgoing.js";
import { TaskRow } from "./row.js";
import { beginSteps, can, press, step, stepToEnd } from "./steps.js";

/** @type {import("../keys.js").Shortcut[]} */
export const SHORTCUTS = [
  { keys: ["j", "ArrowDown"], label: "Next task", repeats: true, run: () => step(1) },
  { keys: ["k", "ArrowUp"], label: "Previous task", repeats: true, run: () => step(-1) },
  { keys: ["Home"], label: "First task", run: () => stepToEnd(1) },
  { keys: ["End"], label: "Last task", run: () => stepToEnd(-1) },
  action(["Enter", "o"], "Open: edit the message, look at the run", "open"),
  action(["Mod+enter"], "Send now, or again", "send"),
  action(["h"], "Another time", "later"),
  action(["#"], "Cancel sending, or put away", "away"),
  { keys: ["u", "Escape"], label: "Back to the inbox", run: () => navigate("/p/mail") },
];

/** @typedef {{ id: string, title: string, states: OutgoingState[] }} Part */
/** @type {Part[]} */
const TROUBLE = [{ id: "trouble", title: "Needs your decision", states: ["failed", "uncertain", "overdue"] }];
/** @type {Part} */
const SCHEDULED = { id: "scheduled", title: "Scheduled", states: ["scheduled"] };
/** The parts that need nobody: in a wide window they are beside the rest. @type {Part[]} */
const GOING = [
  { id: "going", title: "On its way", states: ["held", "transmitting"] },
  { id: "done", title: "In the last 24 hours", states: ["sent", "cancelled"] },
];

/** `scheduled`: shows only scheduled mail. @param {{ scheduled: boolean }} props */
export function TasksPage({ scheduled }) {
  const title = scheduled ? "Scheduled" : "Tasks";
  useLayoutEffect(() => {
    beginSteps();
    return registerKeys("Tasks", SHORTCUTS);
  }, []);
  useEffect(() => {
    document.title = `${title} – svc`;
    void loadOutgoing();
  }, [title]);
  void now.value; // for the remaining times
  const rows = outgoing.value;
  return html`<main class="panel scrolls"><div class="page-frame tasks-frame">
    <h1>${title}</h1>
    ${outgoingProblem.value && html`<div class="notice bad" role="alert">
      <span>Could not load the tasks: ${outgoingProblem.value}</span>
      <button class="button small" onClick=${() => void loadOutgoing()}>Try again</button></div>`}
    ${rows === null && !outgoingProblem.value && html`<p class="quiet-text" role="status">Loading the tasks</p>`}
    <div class="tasks-part">
      ${!scheduled && html`<${WaitingApprovals} />`}
      ${rows && (scheduled || rows.length || approvals.value?.length
        ? [...(scheduled ? [] : TROUBLE), SCHEDULED].map(section(rows)) : html`<${Nothing} />`)}
    </div>
    ${rows && !scheduled && html`<div class="tasks-part">${GOING.map(section(rows))}</div>`}
  </div></main>`;
}

function Nothing() {
  return html`<div class="empty">
    <${Icon} name="tasks" size=${44} />
    <p class="empty-title">Nothing waits for you</p>
    <p>Here you see questions of your agents, and mail that is sent later or could not be sent. The clock beside Send
      chooses when a mail goes.</p>
    <p><a class="button" href="/p/mail">Go to the inbox</a></p>
  </div>`;
}

/** @param {Outgoing[]} rows */
function section(rows) {
  return (/** @type {Part} */ { id, title, states }) => html`<${Section} key=${id} id=${id} title=${title}
    rows=${rows.filter((one) => states.includes(one.state))} />`;
}

/** @param {{ id: string, title: string, rows: Outgoing[] }} props */
function Section({ id, title, rows }) {
  const sorted = id === "scheduled" ? rows.toSorted((one, other) => (one.sendAt ?? "")
    .localeCompare(other.sendAt ?? "")) : rows;
  if (!rows.length && id !== "scheduled") return null;
  return html`<section class="setting" aria-labelledby=${`tasks-${id}`}>
    <h2 id=${`tasks-${id}`}>${title}</h2>
    ${!rows.length && html`<p class="quiet-text tasks-none"><${Icon} name="clock" size=${16} /> Nothing is scheduled. In
      the compose window, the clock beside Send chooses a time.</p>`}
    <ul class="things">${sorted.map((row) => html`<${TaskRow} key=${row.id} row=${row} />`)}</ul>
  </section>`;
}

/** @param {string[]} keys @param {string} label @param {string} name the button's name @returns
 * {import("../keys.js").Shortcut} */
function action(keys, label, name) {
  return { keys, label, acts: true, when: () => can(name), run: () => press(name) };
}
