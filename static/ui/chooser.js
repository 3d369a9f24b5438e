// @ts-check
/**
 * A field with a list below it, controlled by the keyboard from the field (the combobox pattern of ARIA): arrows move,
 * Enter chooses. It does not depend on the kind of items.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";

/**
 * @template {{ id: string }} Item
 * @param {object} props
 * @param {string} props.id prefix of the elements' ids
 * @param {string} props.label of field and list
 * @param {string} [props.placeholder]
 * @param {string} props.text
 * @param {(text: string) => void} props.setText
 * @param {Item[]} props.items
 * @param {(item: Item) => unknown} props.show the content of an option
 * @param {(item: Item, shift: boolean) => void} props.choose `shift`: whether the Shift key was held
 * @param {(item: Item) => "true" | "false" | "mixed" | undefined} [props.checked] for a list of items that are on or
 * off
 * @param {string} [props.nothing] the text when no item is left
 */
export function Chooser({ id, label, placeholder = "", text, setText, items, show, choose, checked,
  nothing = "Nothing matches." }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const list = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [at, setAt] = useState(0);
  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => setAt(0), [text]);
  const active = Math.min(at, items.length - 1);
  useEffect(() => {
    list.current?.querySelector(".active")?.scrollIntoView({ block: "nearest" });
  }, [active, items]);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const item = items[active];
    if (step && items.length) setAt((active + step + items.length) % items.length);
    else if (event.key === "Enter" && item && !event.isComposing) choose(item, event.shiftKey);
    else return;
    event.preventDefault();
  };
  return html`<div class="chooser">
    <input
      ref=${field} class="chooser-field" type="text" role="combobox" aria-label=${label} placeholder=${placeholder}
        value=${text}
      aria-expanded=${items.length ? "true" : "false"} aria-controls=${`${id}-list`} aria-autocomplete="list"
      aria-activedescendant=${items[active] ? `${id}-${active}` : undefined}
      autocomplete="off" autofocus spellcheck=${false} enterkeyhint="done"
      onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setText(event.currentTarget.value)}
        onKeyDown=${onKeyDown}
    />
    <div class="chooser-list" id=${`${id}-list`} role="listbox" aria-label=${label} ref=${list} tabindex="-1">
      ${items.map(
        (item, index) => html`<div
          key=${item.id} id=${`${id}-${index}`} class=${`chooser-item${index === active ? " active" : ""}`}
            role="option"
          aria-selected=${index === active ? "true" : "false"} aria-checked=${checked?.(item)}
          onMouseMove=${() => index !== active && setAt(index)}
          onClick=${(/** @type {MouseEvent} */ event) => choose(item, event.shiftKey)}
        >${show(item)}</div>`,
      )}
    </div>
    ${!items.length && html`<p class="chooser-nothing" role="status">${nothing}</p>`}
  </div>`;
}
