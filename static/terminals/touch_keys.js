// @ts-check
/** Buttons for keys that an on-screen keyboard does not have. */
import { html } from "../ui/html.js";

const KEYS = [{ show: "Esc", types: "\x1b" }, { show: "Tab", types: "\t" }];
/** @type {{ show: string, label: string, where: import("./screen.js").Arrow }[]} */
const ARROWS = [
  { show: "←", label: "Left", where: "left" },
  { show: "↑", label: "Up", where: "up" },
  { show: "↓", label: "Down", where: "down" },
  { show: "→", label: "Right", where: "right" },
];

/** @param {{ tab: import("./tab.js").Tab }} props */
export function TouchKeys({ tab }) {
  const holdControl = () => {
    tab.control.value = !tab.control.value;
    tab.screen?.focus();
  };
  return html`<div class="terminals-keys" role="toolbar" aria-label="Keys">
    ${KEYS.map(({ show, types }) => html`<${Key} key=${show} show=${show} act=${() => tab.screen?.press(types)} />`)}
    <${Key} show="Ctrl" title="For the next key" held=${tab.control.value} act=${holdControl} />
    ${ARROWS.map(({ show, label, where }) =>
      html`<${Key} key=${show} show=${show} label=${label} act=${() => tab.screen?.arrow(where)} />`)}
  </div>`;
}

/**
 * A press does not move the focus, so that the on-screen keyboard stays open.
 * @param {{ show: string, label?: string, title?: string, held?: boolean, act: () => void }} props
 */
function Key({ show, label, title, held, act }) {
  return html`<button class="terminals-key" aria-label=${label} title=${title} aria-pressed=${held}
    onPointerDown=${(/** @type {Event} */ event) => event.preventDefault()} onClick=${act}>${show}</button>`;
}
