// @ts-check
/** A line of text with a button that copies it. */
import { useState } from "preact/hooks";
import { html } from "./html.js";
import { Icon } from "./icons.js";

const THANKS_MS = 2_000;

/** @param {{ text: string, label: string }} props */
export function CopyLine({ text, label }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setCopied(true);
      setTimeout(() => setCopied(false), THANKS_MS);
    } catch {
      // Without permission for the clipboard, the text can still be selected by hand.
    }
  };
  return html`<span class="copy-line">
    <code>${text}</code>
    <button type="button" class="button small" aria-label=${`Copy ${label}`} onClick=${copy}>
      <${Icon} name=${copied ? "check" : "copy"} size=${16} /> ${copied ? "Copied" : "Copy"}
    </button>
  </span>`;
}
