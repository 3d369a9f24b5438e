// @ts-check
/** The page of terminals: a tab for each, the terminal in front, and the buttons for it. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { registerKeys } from "../keys.js";
import { navigate } from "../router.js";
import { isAdmin, me } from "../session.js";
import { isSwitchedOff } from "../switches.js";
import { ConfirmButton } from "../ui/confirm.js";
import { classes, html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { terminalHref } from "./address.js";
import { Others } from "./others.js";
import { SearchBar } from "./search_bar.js";
import { addTab, closeTabs, front, openTabs, removeTab, tabs } from "./tab.js";
import { TouchKeys } from "./touch_keys.js";

/** @typedef {import("./tab.js").Tab} Tab */

/** @type {import("../keys.js").Shortcut[]} */
export const SHORTCUTS = [
  { keys: ["Mod+Shift+f"], label: "Search in the terminal", fixed: true, run: search,
    when: () => front.value !== null },
];

function search() {
  if (front.value) front.value.searching.value = true;
}

/** @param {{ session: string | null }} props */
export function TerminalPage({ session }) {
  if (!me.value) return html`<main class="panel"></main>`;
  if (isSwitchedOff("terminals")) {
    return html`<${Nothing}>This server has no terminals: it is a public one.</${Nothing}>`;
  }
  if (!isAdmin()) return html`<${Nothing}>Terminals are for admins.</${Nothing}>`;
  return html`<${Terminals} session=${session} />`;
}

/** @param {{ children?: unknown }} props */
function Nothing({ children }) {
  useTitle("Terminal");
  return html`<main class="panel"><div class="empty"><h1 class="empty-title">No terminal</h1>
    <p>${children}</p></div></main>`;
}

/** @param {{ session: string | null }} props */
function Terminals({ session }) {
  const [others, setOthers] = useState(/** @type {TerminalsTerminalOut[]} */ ([]));
  const [problem, setProblem] = useState("");
  const load = () => openTabs(session).then(setOthers, (error) => setProblem(error.message));
  useLayoutEffect(() => registerKeys("Terminal", SHORTCUTS), []);
  useEffect(() => {
    void load();
    return closeTabs;
  }, []);
  const tab = front.value;
  const at = tab?.session.value ?? null;
  useEffect(() => {
    if (at && at !== session) navigate(terminalHref(at), { replace: true });
  }, [at]);
  useEffect(() => {
    const other = tabs.value.find((one) => one.session.value === session);
    if (session && other && at && session !== at) front.value = other;
  }, [session]);
  useTitle(tab?.title.value ?? "Terminal");
  return html`<main class="panel terminals">
    <h1 class="sr-only">Terminal</h1>
    <div class="terminals-bar">
      <div class="terminals-tabs" role="tablist" aria-label="Terminals">${tabs.value.map((one) =>
        html`<${TabButton} key=${one.key} tab=${one} />`)}</div>
      <button class="icon-button" aria-label="New terminal" title="New terminal" onClick=${addTab}>
        <${Icon} name="plus" /></button>
      ${tab && html`<${Actions} key=${tab.key} tab=${tab} />`}
    </div>
    <${Others} of=${others} />
    ${problem && html`<div class="notice bad" role="alert"><span>Could not load the terminals: ${problem}</span></div>`}
    ${!tab && !problem && html`<div class="empty"><p>Nothing runs here.</p>
      <p><button class="button primary" onClick=${addTab}>New terminal</button></p></div>`}
    <div class="terminals-stage">${tabs.value.map((one) => html`<${TabPanel} key=${one.key} tab=${one} />`)}</div>
    ${tab && html`<${TouchKeys} tab=${tab} />`}
  </main>`;
}

/** @param {{ tab: Tab }} props */
function TabButton({ tab }) {
  const isFront = front.value === tab;
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = tabs.value.at((tabs.value.indexOf(tab) + step) % tabs.value.length);
    if (next) front.value = next;
    document.getElementById(`terminal-tab-${next?.key}`)?.focus();
  };
  return html`<button class="terminals-tab" role="tab" id=${`terminal-tab-${tab.key}`} aria-selected=${isFront}
    aria-controls=${`terminal-panel-${tab.key}`} tabindex=${isFront ? 0 : -1} onKeyDown=${onKeyDown}
    onClick=${() => { front.value = tab; }}>
    <span class=${classes({ "terminals-dot": true, [tab.state.value]: true })}></span>
    <span class="terminals-title">${tab.title.value}</span></button>`;
}

/** @param {{ tab: Tab }} props */
function Actions({ tab }) {
  const canBeEnded = tab.state.value === "live";
  const paste = async () => {
    const text = await navigator.clipboard?.readText().catch(() => "");
    if (text) tab.screen?.paste(text);
  };
  const copy = async () => {
    const text = tab.screen?.selection;
    if (text) await navigator.clipboard?.writeText(text);
    tab.screen?.focus();
  };
  return html`<div class="terminals-actions">
    <button class="icon-button" aria-label="Search in the terminal" title="Search (Ctrl+Shift+F)" onClick=${search}>
      <${Icon} name="terminal-search" /></button>
    <button class="icon-button" aria-label="Copy what is selected" title="Copy what is selected (Ctrl+Shift+C)"
      onClick=${() => void copy()}><${Icon} name="copy" /></button>
    <button class="icon-button" aria-label="Paste" title="Paste (Ctrl+Shift+V)" onClick=${() => void paste()}>
      <${Icon} name="terminal-paste" /></button>
    ${canBeEnded && html`<${ConfirmButton} label="End" what=${tab.title.value} sure="End it"
      question="All that runs in it ends." run=${async () => tab.kill()} />`}
  </div>`;
}

/** @param {{ tab: Tab }} props */
function TabPanel({ tab }) {
  const isFront = front.value === tab;
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  useLayoutEffect(() => {
    if (place.current) void tab.mount(place.current);
  }, []);
  useLayoutEffect(() => {
    if (isFront) tab.screen?.focus();
  }, [isFront]);
  return html`<div class=${classes({ "terminals-panel": true, behind: !isFront })} role="tabpanel"
    id=${`terminal-panel-${tab.key}`} aria-labelledby=${`terminal-tab-${tab.key}`}>
    ${tab.searching.value && html`<${SearchBar} tab=${tab} />`}
    <${Standing} tab=${tab} />
    <div class="terminals-screen" ref=${place}></div>
  </div>`;
}

/** Why a tab shows no new output, and what the person can do. @param {{ tab: Tab }} props */
function Standing({ tab }) {
  const state = tab.state.value;
  const isOver = state === "ended" || state === "refused";
  return html`<div role="status" aria-live="polite">${state !== "live" && tab.words.value && html`
    <div class=${classes({ "terminals-standing": true, bad: state === "lost" })}>
      <span>${tab.words.value}</span>
      ${state === "lost" && html`<button class="button small" onClick=${() => tab.connect()}>Try now</button>`}
      ${state === "taken" && html`<button class="button small" onClick=${() => tab.connect()}>Show it here</button>`}
      ${isOver && html`<button class="button small" onClick=${() => removeTab(tab)}>Close</button>
        <button class="button small" onClick=${addTab}>New terminal</button>`}
    </div>`}</div>`;
}

/** @param {string} title */
function useTitle(title) {
  useEffect(() => {
    document.title = `${title} – svc`;
  }, [title]);
}
