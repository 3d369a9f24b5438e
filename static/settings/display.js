// @ts-check
/** How the app looks in this browser: its colours, and how dense its lists are. */
import { chooseDensity, density } from "../frame.js";
import { chooseTheme, theme } from "../theme.js";
import { html } from "../ui/html.js";

/** @type {{ value: import("../theme.js").Theme, label: string }[]} */
const COLOURS = [{ value: "system", label: "As the system" }, { value: "light", label: "Light" },
  { value: "dark", label: "Dark" }];
/** @type {{ value: import("../frame.js").Density, label: string }[]} */
const DENSITIES = [{ value: "comfortable", label: "Comfortable" }, { value: "compact", label: "Compact: more rows, " +
  "without the line of the message" }];

export function DisplaySection() {
  return html`<section class="setting" aria-labelledby="display-title">
    <h2 id="display-title">In this browser</h2>
    <p class="fine">Kept in this browser: another one, such as your phone, has its own.</p>
    <${Choice} name="colours" title="Colours" options=${COLOURS} chosen=${theme.value} choose=${chooseTheme} />
    <${Choice} name="density" title="Lists" options=${DENSITIES} chosen=${density.value} choose=${chooseDensity} />
  </section>`;
}

/**
 * @template {string} Value
 * @param {{ name: string, title: string, options: { value: Value, label: string }[], chosen: Value,
 *   choose: (value: Value) => void }} props
 */
function Choice({ name, title, options, chosen, choose }) {
  return html`<fieldset class="display-choice">
    <legend>${title}</legend>
    ${options.map(({ value, label }) => html`<label key=${value}><input type="radio" name=${name} value=${value}
      checked=${value === chosen} onChange=${() => choose(value)} /> ${label}</label>`)}
  </fieldset>`;
}
