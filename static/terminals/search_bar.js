// @ts-check
/** The bar for searching the output of a terminal. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

/** @param {{ tab: import("./tab.js").Tab }} props */
export function SearchBar({ tab }) {
  const [words, setWords] = useState("");
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useLayoutEffect(() => field.current?.focus(), []);
  const find = (/** @type {"next" | "previous"} */ way) => tab.screen?.find(words, way);
  const end = () => {
    tab.searching.value = false;
    tab.screen?.endSearch();
  };
  /** @param {KeyboardEvent} event */
  const onKeyDown = (event) => {
    if (event.key === "Escape") end();
    else if (event.key === "Enter") find(event.shiftKey ? "next" : "previous");
    else return;
    event.preventDefault();
  };
  /** @param {Event} event */
  const onInput = (event) => {
    const wanted = /** @type {HTMLInputElement} */ (event.target).value;
    setWords(wanted);
    tab.screen?.find(wanted, "previous", true);
  };
  const { at, of } = tab.found.value;
  return html`<div class="terminals-search" role="search">
    <input ref=${field} type="search" aria-label="Search in the terminal" placeholder="Search in the terminal"
      value=${words} onInput=${onInput} onKeyDown=${onKeyDown} />
    <span class="fine" role="status">${words && (of ? `${at || "?"} of ${of}` : "Not found")}</span>
    <button class="icon-button" aria-label="Further up" title="Further up (Enter)" onClick=${() => find("previous")}>
      <${Icon} name="terminal-up" /></button>
    <button class="icon-button" aria-label="Further down" title="Further down (Shift+Enter)"
      onClick=${() => find("next")}><${Icon} name="terminal-down" /></button>
    <button class="icon-button" aria-label="End the search" title="End the search (Esc)" onClick=${end}>
      <${Icon} name="close" /></button>
  </div>`;
}
