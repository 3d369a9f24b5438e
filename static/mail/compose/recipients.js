// @ts-check
/**
 * A line of recipients: a chip for each, and a field that completes known people.
 *
 * Enter, Tab, comma and semicolon add the typed address or the marked suggestion; Backspace in the empty field focuses
 * the last chip, and pressed again removes it; the arrow keys move along the chips; Enter, F2 or a second click edits a
 * chip; Alt with ↑ or ↓, or the mouse, moves it to the line above or below.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { query } from "../../rpc.js";
import { classes, html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { formatMailbox, isAddress, parseMailboxes, withoutDoubles } from "./addresses.js";

const ASK_AFTER_MS = 120;
const MOST_SUGGESTIONS = 8;
/** More chips than this are folded: five hundred would push the text out of the window. */
const CHIPS_SHOWN = 60;

/** The data type of a dragged chip; the data is its address. */
export const CARRIED = "application/x-svc-recipient";

/**
 * @typedef {object} RecipientsProps
 * @property {string} id
 * @property {string} label
 * @property {Person[]} people
 * @property {(people: Person[]) => void} change
 * @property {(address: string) => void} take moves a recipient here from another line
 * @property {(person: Person, step: 1 | -1) => void} move moves a recipient to the line above or below
 * @property {unknown} [children] shown at the end of the line; Tab goes from the field to the next line, not to them
 */

/** @param {RecipientsProps} props */
export function Recipients({ id, label, people, change, take: takeOver, move, children }) {
  const [text, setText] = useState("");
  const [all, setAll] = useState(false);
  const [changed, setChanged] = useState(-1);
  const [over, setOver] = useState(false);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const chips = useRef(/** @type {HTMLUListElement | null} */ (null));
  const { options, active, setActive, forget } = useSuggestions(text, people);

  const add = (/** @type {Person[]} */ more) => {
    forget();
    setText("");
    if (more.length) change(withoutDoubles([...people, ...more]));
  };
  const take = () => {
    const chosen = options[active];
    if (chosen) add([{ name: chosen.name, address: chosen.address }]);
    else add(parseMailboxes(text));
  };
  const remove = (/** @type {number} */ index) => {
    change(people.filter((_, at) => at !== index));
    const next = chips.current?.querySelectorAll("button.person")[Math.max(0, index - 1)];
    if (index > 0 && next instanceof HTMLElement) next.focus();
    else input.current?.focus();
  };
  /** Sets the text of a chip; null: unchanged. */
  const put = (/** @type {number} */ index, /** @type {string | null} */ words) => {
    setChanged(-1);
    if (words !== null) {
      const others = people.filter((_, at) => at !== index);
      change(withoutDoubles([...others.slice(0, index), ...parseMailboxes(words), ...others.slice(index)]));
    }
    requestAnimationFrame(() => {
      if (document.activeElement?.matches("input, select, button, [contenteditable]")) return; // the focus has moved on
      const chip = chips.current?.querySelectorAll("button.person")[index];
      (chip instanceof HTMLElement ? chip : input.current)?.focus();
    });
  };
  const dragging = {
    onDragOver: (/** @type {DragEvent} */ event) => {
      if (!event.dataTransfer?.types.includes(CARRIED)) return;
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (/** @type {DragEvent} */ event) => {
      setOver(false);
      const address = event.dataTransfer?.getData(CARRIED);
      if (!address) return;
      event.preventDefault();
      takeOver(address);
    },
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const { key } = event;
    const sends = key === "Enter" && (event.ctrlKey || event.metaKey);
    if (event.isComposing) return;
    if (key === "ArrowDown" || key === "ArrowUp") {
      if (!options.length) return;
      event.preventDefault();
      setActive((active + (key === "ArrowDown" ? 1 : -1) + options.length) % options.length);
    } else if (key === "Escape" && options.length) {
      event.preventDefault();
      event.stopPropagation();
      forget();
    } else if (sends) {
      add(parseMailboxes(text));
    } else if (key === "Enter" || ((key === "," || key === ";") && !insideName(text))) {
      event.preventDefault();
      if (key !== "Enter" && !text.trim()) return;
      take();
    } else if (key === "Tab" && text.trim() && !event.shiftKey) {
      if (options[active]) event.preventDefault(); // the completion used the key; the next Tab moves on
      take();
    } else if ((key === "Backspace" || key === "ArrowLeft") && !text && people.length) {
      event.preventDefault();
      lastOf(chips.current)?.focus();
    }
  };
  const onPaste = (/** @type {ClipboardEvent} */ event) => {
    const pasted = event.clipboardData?.getData("text/plain") ?? "";
    const found = parseMailboxes(pasted);
    if (text.trim() || (found.length < 2 && !isAddress(found[0]?.address ?? ""))) return;
    event.preventDefault();
    add(found);
  };
  const shown = all ? people : people.slice(0, CHIPS_SHOWN);
  const open = options.length > 0;
  return html`<div class=${classes({ recipients: true, over })} ...${dragging}
    onClick=${(/** @type {MouseEvent} */ event) => event.target === event.currentTarget && input.current?.focus()}>
    <label for=${id}>${label}</label>
    ${children}
    <div class="recipients-line">
      <ul class="people" ref=${chips} aria-label=${`${label}: recipients`}>
        ${shown.map((person, index) => (changed === index
          ? html`<${ChangedChip} key=${person.address} person=${person}
              done=${(/** @type {string | null} */ words) => put(index, words)} />`
          : html`<${Chip} key=${person.address} person=${person} remove=${() => remove(index)}
              edit=${() => setChanged(index)} move=${(/** @type {1 | -1} */ step) => move(person, step)}
              field=${input} />`))}
      </ul>
      ${people.length > shown.length && html`<button type="button" class="button small" onClick=${() => setAll(true)}>
        and ${people.length - shown.length} more</button>`}
      <input
        id=${id} ref=${input} type="text" role="combobox" autocomplete="off" autocapitalize="none" spellcheck=${false}
          value=${text}
        aria-autocomplete="list" aria-expanded=${open ? "true" : "false"} aria-controls=${`${id}-known`}
        aria-activedescendant=${open && active >= 0 ? `${id}-known-${active}` : undefined}
        onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setText(event.currentTarget.value)}
        onKeyDown=${onKeyDown} onPaste=${onPaste} onBlur=${() => add(parseMailboxes(text))}
      />
    </div>
    <${Suggestions} id=${`${id}-known`} label=${label} options=${options} active=${active}
      take=${(/** @type {Suggestion} */ one) => add([{ name: one.name, address: one.address }])} />
  </div>`;
}

/**
 * @param {{ person: Person, remove: () => void, edit: () => void, move: (step: 1 | -1) => void,
 *   field: { current: HTMLInputElement | null } }} props
 */
function Chip({ person, remove, edit, move, field }) {
  const fine = isAddress(person.address);
  const had = useRef(false);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const here = /** @type {HTMLElement} */ (event.currentTarget);
    const { key } = event;
    const step = key === "ArrowUp" ? -1 : key === "ArrowDown" ? 1 : 0;
    if (event.ctrlKey || event.metaKey) return;
    if (event.altKey && step) move(step);
    else if (key === "Backspace" || key === "Delete") remove();
    else if (key === "Enter" || key === "F2") edit();
    else if (key === "ArrowLeft") sibling(here, -1)?.focus();
    else if (key === "ArrowRight") (sibling(here, 1) ?? field.current)?.focus();
    else return;
    event.preventDefault();
  };
  // The first click focuses a chip, the second edits it: so this works with a finger, too.
  const onClick = (/** @type {MouseEvent} */ event) => {
    if (had.current) edit();
    else if (event.currentTarget instanceof HTMLElement) event.currentTarget.focus();
  };
  const onDragStart = (/** @type {DragEvent} */ event) => {
    event.dataTransfer?.setData(CARRIED, person.address);
    event.dataTransfer?.setData("text/plain", formatMailbox(person));
  };
  const words = person.name || person.address;
  const spoken = [words, person.name && person.address, !fine && "not a mail address"].filter(Boolean).join(", ");
  return html`<li class=${classes({ "person-chip": true, wrong: !fine })} draggable="true" onDragStart=${onDragStart}>
    <button type="button" class="person" tabindex="-1" title=${formatMailbox(person)} data-address=${person.address}
      aria-label=${`${spoken}. Enter to change, Delete to remove, Alt and up or down to move`} onKeyDown=${onKeyDown}
      onPointerDown=${(/** @type {Event} */ event) => { had.current = document.activeElement === event.currentTarget; }}
      onClick=${onClick}>${!fine && html`<${Icon} name="warning" size=${14} />`}<bdi>${words}</bdi></button>
    <button type="button" class="person-remove" tabindex="-1" aria-label=${`Remove ${words}`} onClick=${remove}>
      <${Icon} name="close" size=${12} /></button>
  </li>`;
}

/** A chip while it is being edited. @param {{ person: Person, done: (words: string | null) => void }} props */
function ChangedChip({ person, done }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const ended = useRef(false);
  useLayoutEffect(() => field.current?.select(), []);
  const end = (/** @type {string | null} */ words) => {
    if (ended.current) return; // leaving applies the change, and Enter leaves
    ended.current = true;
    done(words);
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.isComposing || !(event.currentTarget instanceof HTMLInputElement)) return;
    if (event.key === "Enter") end(event.currentTarget.value);
    else if (event.key === "Escape") end(null);
    else return;
    if (event.ctrlKey || event.metaKey) return; // Ctrl+Enter sends the message
    event.preventDefault();
    event.stopPropagation();
  };
  const words = formatMailbox(person);
  return html`<li class="person-chip changed">
    <input ref=${field} type="text" aria-label=${`Change ${person.name || person.address}`} autocomplete="off"
      autocapitalize="none" spellcheck=${false} defaultValue=${words} size=${Math.min(40, Math.max(12, words.length))}
      onKeyDown=${onKeyDown}
      onBlur=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => end(event.currentTarget.value)} />
  </li>`;
}

/**
 * @param {{ id: string, label: string, options: Suggestion[], active: number, take: (one: Suggestion) => void }} props
 */
function Suggestions({ id, label, options, active, take }) {
  return html`<ul class="suggestions" id=${id} role="listbox" aria-label=${`${label}: people you know`}
    hidden=${!options.length}>
    ${options.map(
      (one, index) => html`<li key=${one.address} id=${`${id}-${index}`} role="option"
        aria-selected=${index === active ? "true" : "false"}
        onMouseDown=${(/** @type {Event} */ event) => { event.preventDefault(); take(one); }}>
        <span class="suggestion-name"><bdi>${one.title || one.name || one.address}</bdi></span>
        ${(one.title || one.name) && html`<span class="suggestion-address"><bdi>${one.address}</bdi></span>`}
      </li>`,
    )}
  </ul>`;
}

/**
 * The suggestions for the typed text. The first one is marked, unless the text is already an address.
 * @param {string} text
 * @param {Person[]} people
 */
function useSuggestions(text, people) {
  const [options, setOptions] = useState(/** @type {Suggestion[]} */ ([]));
  const [marked, setActive] = useState(-1);
  const [answered, setAnswered] = useState("");
  const asked = useRef(0);
  const wanted = text.trim();
  const forget = () => {
    asked.current += 1;
    setOptions([]);
  };
  useEffect(() => {
    const mine = ++asked.current;
    if (!wanted) {
      setOptions([]);
      return undefined;
    }
    const timer = setTimeout(async () => {
      const found = await query("people.suggest", { text: wanted, limit: MOST_SUGGESTIONS }).catch(() => []);
      if (mine !== asked.current) return; // a later request replaces this one
      const there = new Set(people.map(({ address }) => address.toLowerCase()));
      setOptions(found.filter(({ address }) => !there.has(address.toLowerCase())));
      setAnswered(wanted);
      setActive(isAddress(wanted) ? -1 : 0);
    }, ASK_AFTER_MS);
    return () => clearTimeout(timer);
  }, [wanted]);
  // Until the answer to the newest text is here no suggestion is marked: Enter must not add another person.
  return { options, active: answered === wanted ? marked : -1, setActive, forget };
}

/** Whether the caret is inside a quoted name: a comma there is not a separator. @param {string} text */
function insideName(text) {
  return (text.match(/"/g)?.length ?? 0) % 2 === 1;
}

/** @param {HTMLElement | null} list */
function lastOf(list) {
  return /** @type {HTMLElement | undefined} */ ([...(list?.querySelectorAll("button.person") ?? [])].at(-1));
}

/** @param {HTMLElement} chip @param {1 | -1} step */
function sibling(chip, step) {
  const all = [...(chip.closest("ul")?.querySelectorAll("button.person") ?? [])];
  const other = all[all.indexOf(chip) + step];
  return other instanceof HTMLElement ? other : null;
}
