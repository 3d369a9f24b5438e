// @ts-check
/**
 * The command palette: every command by name, with its shortcut, so that people learn it; and links to all places.
 *
 * Commands come from the registry of keys and from providers, at once or after asking the server. The browser stores
 * which ones were used last, and those come first. The palette does not depend on any page.
 */
import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { scopes } from "../keys.js";
import { keepRecentlyUsed, recentlyUsed } from "../recently_used.js";
import { navigate } from "../router.js";
import { Chooser } from "./chooser.js";
import { keyNames } from "./key_words.js";
import { html } from "./html.js";
import { Modal } from "./modal.js";
import { ranked } from "./palette_order.js";

const NAME = "palette";
const PALETTE = "Everywhere Mod+k";
const MAX_USED = 8;
const SETTLE_MS = 120;

/**
 * @typedef {object} Command
 * @property {string} id stays the same
 * @property {string} label
 * @property {string} [group] its kind, shown beside it
 * @property {string} [hint] more about it, shown where there is room
 * @property {string[]} [also] other words that people use for it
 * @property {boolean} [acts] it acts on what is selected or open
 * @property {"page" | "person" | "file"} [thing] it only leads to one of these
 * @property {string} [href] the address that it leads to
 * @property {string[]} [keys]
 * @property {() => void} run
 */

export const paletteOpen = signal(false);

/** @type {(() => Command[])[]} */
const providers = [];
/** @type {((text: string) => Promise<Command[]>)[]} */
const lookups = [];

/** @param {() => Command[]} provider called whenever the palette is rendered */
export function provideCommands(provider) {
  providers.push(provider);
}

/** @param {(text: string) => Promise<Command[]>} lookup called with the typed text */
export function provideLookup(lookup) {
  lookups.push(lookup);
}

export function Palette() {
  return paletteOpen.value ? html`<${Body} />` : null;
}

function Body() {
  const [text, setText] = useState("");
  const [found, setFound] = useState(/** @type {Command[]} */ ([]));
  const [used] = useState(usedRecently);
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
    remember(one);
    setTimeout(one.run); // the dialog is removed by then
  };
  const items = ranked([...again(used), ...known, ...providers.flatMap((provider) => provider()), ...found],
    new Set(found.map((one) => one.id)), text.trim(), used.map((one) => one.id));
  return html`<${Modal} label="Commands" class="palette" close=${close}>
    <${Chooser} id="palette" label="Command" placeholder="Do something, or go somewhere" text=${text} setText=${setText}
      items=${items} choose=${choose}
      show=${(/** @type {Command} */ one) => html`<span class="chooser-text"><bdi>${one.label}</bdi></span>
        ${one.hint && html`<span class="quiet-text palette-hint"><bdi>${one.hint}</bdi></span>`}
        ${one.group && html`<span class="quiet-text">${one.group}</span>`}
        ${one.keys?.length && html`<span class="chooser-keys">
          ${keyNames(one.keys[0] ?? "").map((name) => html`<kbd key=${name}>${name}</kbd>`)}</span>`}`}
    />
  </${Modal}>`;
}

/**
 * The commands of the key registry that work now, each once; the innermost scope comes first. Those that move by a step
 * are left to their keys.
 * @returns {Command[]}
 */
function commands() {
  return scopes.value.toReversed().flatMap((scope) =>
    scope.shortcuts
      .filter((one) => (one.when?.() ?? true) && one.name !== PALETTE && !one.repeats)
      .filter((one, at, all) => all.findIndex(({ label }) => label === one.label) === at)
      .map(({ name, keys, label, run, also, acts }) => ({ id: `key ${name}`, label, keys, run, also, acts })),
  );
}

/** @typedef {{ id: string, label: string, group?: string, hint?: string, href?: string }} Used */

/** @returns {Used[]} */
function usedRecently() {
  return /** @type {Used[]} */ (recentlyUsed(NAME)
    .filter((/** @type {any} */ one) => typeof one?.id === "string" && typeof one.label === "string"));
}

/** Results used before, with their labels of that time: they are offered without a request. @param {Used[]} used */
function again(used) {
  return used.flatMap(({ id, label, group, hint, href }) => (typeof href === "string"
    ? [/** @type {Command} */ ({ id, label, group, hint, href, run: () => navigate(href) })] : []));
}

/** @param {Command} command */
function remember({ id, label, group, hint, href, thing }) {
  const used = { id, label, group, hint, href: thing === "file" ? undefined : href };
  keepRecentlyUsed(NAME, [used, ...usedRecently().filter((one) => one.id !== id)].slice(0, MAX_USED));
}
