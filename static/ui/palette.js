// @ts-check
/**
 * The palette: every command by name, with its keys, so that one learns them; and ways to go anywhere.
 *
 * Commands come from the registry of keys and from whoever provides more, at once or by asking the server. It keeps
 * which ones were used last in this browser, and offers those first. It knows no page.
 */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { scopes } from "../keys.js";
import { Chooser } from "./chooser.js";
import { matchScore } from "./fuzzy.js";
import { keyNames } from "./help.js";
import { html } from "./html.js";
import { Modal } from "./modal.js";

const KEY = "svc.palette";
const MAX_RECENT = 8;
const MAX_SHOWN = 60;
const SETTLE_MS = 120;

/**
 * @typedef {object} Command
 * @property {string} id the same next time
 * @property {string} label
 * @property {string} [group] what kind of thing it is, said beside it
 * @property {string[]} [keys]
 * @property {() => void} run
 */

export const paletteOpen = signal(false);

/** @type {(() => Command[])[]} */
const providers = [];
/** @type {((text: string) => Promise<Command[]>)[]} */
const lookups = [];

/** @param {() => Command[]} provider asked whenever the palette is drawn */
export function provideCommands(provider) {
  providers.push(provider);
}

/** @param {(text: string) => Promise<Command[]>} lookup asked for what was typed */
export function provideLookup(lookup) {
  lookups.push(lookup);
}

export function Palette() {
  return paletteOpen.value ? html`<${Body} />` : null;
}

function Body() {
  const [text, setText] = useState("");
  const [found, setFound] = useState(/** @type {Command[]} */ ([]));
  const [recent] = useState(recentIds);
  const [known] = useState(commands);
  useEffect(() => {
    let isNewest = true;
    const timer = setTimeout(async () => {
      const answers = await Promise.allSettled(lookups.map((lookup) => lookup(text.trim())));
      if (isNewest) setFound(answers.flatMap((one) => (one.status === "fulfilled" ? one.value : [])));
    }, SETTLE_MS);
    return () => {
      isNewest = false;
      clearTimeout(timer);
    };
  }, [text]);
  const close = () => {
    paletteOpen.value = false;
  };
  const choose = (/** @type {Command} */ one) => {
    close();
    remember(one.id);
    setTimeout(one.run); // the dialog has left by then
  };
  const items = ranked([...known, ...providers.flatMap((provider) => provider()), ...found], text.trim(), recent);
  return html`<${Modal} label="Commands" class="palette" close=${close}>
    <${Chooser} id="palette" label="Command" placeholder="Do something, or go somewhere" text=${text} setText=${setText}
      items=${items} choose=${choose}
      show=${(/** @type {Command} */ one) => html`<span class="chooser-text"><bdi>${one.label}</bdi></span>
        ${one.group && html`<span class="quiet-text">${one.group}</span>`}
        ${one.keys?.length && html`<span class="chooser-keys">
          ${keyNames(one.keys[0] ?? "").map((name) => html`<kbd key=${name}>${name}</kbd>`)}</span>`}`}
    />
  </${Modal}>`;
}

/** What the keys do here and now. The innermost scope comes first. @returns {Command[]} */
function commands() {
  return scopes.value.toReversed().flatMap((scope) =>
    scope.shortcuts
      .filter((one) => (one.when?.() ?? true) && !one.keys.includes("Mod+k"))
      .map((one) => ({ id: `key ${one.keys[0]}`, label: one.label, keys: one.keys, run: one.run })),
  );
}

/**
 * The best fit first; of those used lately the last one.
 * @param {Command[]} all
 * @param {string} text
 * @param {string[]} recent
 */
function ranked(all, text, recent) {
  const lately = (/** @type {Command} */ { id }) => (recent.includes(id) ? 1 - recent.indexOf(id) / MAX_RECENT : 0);
  return all
    .map((one, index) => ({ one, index, fit: matchScore(text, `${one.label} ${one.group ?? ""}`), lately: lately(one)
      }))
    .filter(({ fit }) => fit > 0)
    .sort((a, b) => b.fit + b.lately - (a.fit + a.lately) || a.index - b.index)
    .slice(0, MAX_SHOWN)
    .map(({ one }) => one);
}

/** @returns {string[]} */
function recentIds() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

/** @param {string} id */
function remember(id) {
  try {
    localStorage.setItem(KEY, JSON.stringify([id, ...recentIds().filter((one) => one !== id)].slice(0, MAX_RECENT)));
  } catch {
    // A browser that keeps nothing for us offers them in their own order.
  }
}
