// @ts-check
/** Settings, Keys: every command with its keys, by place. Keys can be changed, cleared and reset. Two commands of a
 * place never share a key. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { keyPlaces, keysOf, nameOf, staysPut } from "../keys.js";
import { ConfirmButton } from "../ui/confirm.js";
import { html } from "../ui/html.js";
import { keyNames, keyWords } from "../ui/key_words.js";
import { GMAIL, clashes, pressed, same } from "./key_changes.js";
import { prefer, preferences } from "./preferences.js";

/** @typedef {import("./key_changes.js").Command & { place: string, usual: readonly string[] }} Command */

const PRESETS = [{ name: "svc", changes: {} }, { name: "Gmail", changes: GMAIL }];
const MAX_KEYS = 2;

export function KeysSection() {
  const [editing, setEditing] = useState({ name: "", keys: "" });
  const [known, setKnown] = useState(/** @type {readonly import("../keys.js").KeyPlace[]} */ ([]));
  useEffect(() => void keyPlaces().then(setKnown, () => undefined), []); // offline: the banner says so
  const changes = preferences.value.keys;
  const all = commandsOf(known);
  const places = [...new Set(all.map(({ place }) => place))];
  const row = (/** @type {Command} */ one) => html`<${KeyRow} key=${one.name} command=${one} all=${all}
    editing=${editing.name === one.name ? editing : null}
    edit=${(/** @type {string} */ name, keys = "") => setEditing({ name, keys })} />`;
  return html`<section class="setting" aria-labelledby="presets-title">
      <h2 id="presets-title">Keys as in</h2>
      <p class="fine">Kept with your account: every browser of yours has them. Enter, Escape, Home, End and the arrows
        keep their meaning.</p>
      <div class="key-presets">${PRESETS.map((one) => html`<${Preset} key=${one.name} preset=${one}
        chosen=${same(changes, one.changes)} own=${PRESETS.every((other) => !same(changes, other.changes))} />`)}</div>
    </section>
    ${places.map((place) => html`<section key=${place} class="setting" aria-labelledby=${`keys-${place}`}>
      <h2 id=${`keys-${place}`}>${place}</h2>
      <ul class="key-rows">${all.filter((one) => one.place === place).map(row)}</ul>
    </section>`)}`;
}

/** @param {{ preset: typeof PRESETS[number], chosen: boolean, own: boolean }} props */
function Preset({ preset: { name, changes }, chosen, own }) {
  if (chosen) return html`<button class="button small" aria-pressed="true">${name}</button>`;
  return html`<${ConfirmButton} label=${name} run=${() => prefer({ keys: changes })} sure="Replace"
    question=${own ? "This replaces all keys that you changed." : undefined} />`;
}

/**
 * @param {{ command: Command, all: Command[], editing: { keys: string } | null,
 *   edit: (name: string, keys?: string) => void }} props
 */
function KeyRow({ command, all, editing, edit }) {
  const { name, label, keys, usual, fixed } = command;
  const change = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const wasEditing = useRef(false);
  useLayoutEffect(() => {
    if (wasEditing.current && !editing) change.current?.focus();
    wasEditing.current = editing !== null;
  }, [editing]);
  const isChanged = Object.hasOwn(preferences.value.keys, name);
  const movable = keys.filter((one) => !staysPut(one));
  const reset = () => {
    const [taken] = usual.filter((one) => !staysPut(one) && clashes(all, command, one).length > 0);
    if (taken) edit(name, taken);
    else void give(name, null);
  };
  return html`<li class=${`key-row${isChanged ? " changed" : ""}`}>
    <span class="key-label">${label}</span>
    <span class="key-keys">${keys.map((one) => html`<span key=${one} class="key-combination">${keyNames(one).map(
      (part) => html`<kbd key=${part}>${part}</kbd>`)}</span>`)}
      ${keys.length === 0 && html`<span class="quiet-text">none</span>`}</span>
    ${fixed ? html`<span class="quiet-text">fixed</span>` : html`<span class="key-steps">
      <button class="button small key-change" ref=${change} aria-label=${`Change: ${label}`}
        aria-expanded=${editing !== null} onClick=${() => edit(editing ? "" : name)}>Change</button>
      ${movable.length > 0 && html`<button class="button small key-clear" aria-label=${`Clear: ${label}`}
        onClick=${() => void give(name, [])}>Clear</button>`}
      ${isChanged && html`<button class="button small key-reset" aria-label=${`Reset: ${label}`}
        onClick=${reset}>Reset</button>`}
    </span>`}
    ${editing && html`<${Recorder} key=${editing.keys} command=${command} all=${all} begin=${editing.keys}
      close=${() => edit("")} />`}
  </li>`;
}

/** @param {{ command: Command, all: Command[], begin: string, close: () => void }} props */
function Recorder({ command, all, begin, close }) {
  const [keys, setKeys] = useState(begin);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => field.current?.focus(), []);
  const others = keys ? clashes(all, command, keys) : [];
  const problem = staysPut(keys) ? `${keyWords(keys)} keeps its meaning.` : "";
  const ready = keys !== "" && others.length === 0 && problem === "";
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Tab") return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") close();
    else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) void (ready && save());
    else if (event.key === "Backspace") setKeys("");
    else if (!event.repeat) setKeys((before) => joined(before, pressed(event)));
  };
  const save = async () => {
    close();
    await prefer({ keys: { ...without(others, keys), [command.name]: [keys] } });
  };
  const firm = others.some((one) => one.fixed);
  return html`<div class="key-recorder">
    <label class="field"><span>Press the new keys: one, or two in turn</span>
      <input ref=${field} readonly value=${keyWords(keys)} placeholder="Press keys" onKeyDown=${onKeyDown}
        aria-label=${`New keys for: ${command.label}`} aria-describedby="key-clash" /></label>
    <p class="form-problem" role="alert" id="key-clash">${problem || (others.length > 0
      && `${others.map(({ label }) => `“${label}”`).join(", ")} ${others.length === 1 ? "has" : "have"} this key.`)}</p>
    <div class="key-steps">
      ${others.length === 0 && html`<button class="button small primary" disabled=${!ready}
        onClick=${() => void save()}>Save</button>`}
      ${others.length > 0 && !firm && html`<button class="button small danger"
        onClick=${() => void save()}>Take it from there</button>`}
      <button class="button small" onClick=${() => { setKeys(""); field.current?.focus(); }}>Other keys</button>
      <button class="button small" onClick=${close}>Cancel</button>
    </div>
  </div>`;
}

/** Adds a second plain key to the first; any other key begins anew. @param {string} before @param {string} next */
function joined(before, next) {
  if (!next) return before;
  const parts = before.split(" ").filter(Boolean);
  const goesOn = parts.length > 0 && parts.length < MAX_KEYS && ![...parts, next].some((one) => one.includes("Mod+"));
  return goesOn ? `${before} ${next}` : next;
}

/** All changes, with these keys removed from other commands. @param {Command[]} others @param {string} keys */
function without(others, keys) {
  const lost = others.map(({ name, keys: had }) => [name, had.filter((one) => !staysPut(one) && one !== keys
    && !one.startsWith(`${keys} `) && !keys.startsWith(`${one} `))]);
  return { ...preferences.value.keys, .../** @type {Record<string, string[]>} */ (Object.fromEntries(lost)) };
}

/** @param {string} name @param {string[] | null} keys null: the default keys */
function give(name, keys) {
  const { [name]: _, ...rest } = preferences.value.keys;
  return prefer({ keys: keys === null ? rest : { ...rest, [name]: keys } });
}

/** @param {readonly import("../keys.js").KeyPlace[]} known @returns {Command[]} */
function commandsOf(known) {
  return known.flatMap(({ title, shortcuts }) => shortcuts.map((one) => ({ place: title, name: nameOf(title, one),
    label: one.label, keys: keysOf(title, one), usual: one.keys, fixed: one.fixed ?? false })));
}
