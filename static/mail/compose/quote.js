// @ts-check
/** The quoted original below the person's text: folded as "…", shown in the sandboxed frame of messages, or removed. */
import { useState } from "preact/hooks";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { MessageFrame } from "../frame.js";
import { quoted } from "./quotes.js";

/** @param {{ quote: Quote, remove: () => void }} props */
export function QuotedOriginal({ quote, remove }) {
  const [open, setOpen] = useState(false);
  const what = quote.kind === "forward" ? "forwarded message" : "quoted message";
  const { value } = quoted(quote);
  return html`<div class="quote">
    <div class="quote-line">
      <button type="button" class="quote-dots" aria-expanded=${open ? "true" : "false"}
        aria-label=${`${open ? "Hide" : "Show"} the ${what}`} title=${`${open ? "Hide" : "Show"} the ${what}`}
        onClick=${() => setOpen(!open)}>…</button>
      <button type="button" class="icon-button quote-remove" aria-label=${`Leave the ${what} out`}
        title=${`Leave the ${what} out`} onClick=${remove}><${Icon} name="close" size=${14} /></button>
    </div>
    ${open && html`<${Shown} value=${value} what=${what} />`}
  </div>`;
}

/** @param {{ value: import("./quotes.js").Quoted | null, what: string }} props */
function Shown({ value, what }) {
  if (!value) return html`<p class="fine" role="status">Loading the ${what}</p>`;
  if (value.problem) return html`<p class="fine">${value.problem}</p>`;
  return html`<${MessageFrame} body=${value.html} title=${`The ${what}`} />`;
}
