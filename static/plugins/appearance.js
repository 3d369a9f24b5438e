// @ts-check
/** How the app looks in this browser: by day or night, and in which colours. */
import { useEffect } from "preact/hooks";
import { chooseTheme, theme } from "../theme.js";
import { html } from "../ui/html.js";
import { loadOffers, offers } from "./offers.js";
import { chooseStyle, idOf, style } from "./style.js";

/** @type {{ value: import("../theme.js").Theme, label: string }[]} */
const LIGHTS = [
  { value: "system", label: "As the system says" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];

export function AppearanceSection() {
  useEffect(() => void loadOffers(), []);
  const themes = offers.value?.themes ?? [];
  const chosen = style.value?.id ?? "";
  const choose = (/** @type {string} */ id) => {
    const found = themes.find((one) => idOf(one) === id);
    chooseStyle(found ? { id, tokens: found.tokens } : null);
  };
  return html`<section class="setting" aria-labelledby="light-title">
      <h2 id="light-title">Light</h2>
      <p class="fine">For this browser.</p>
      <div role="radiogroup" aria-labelledby="light-title">${LIGHTS.map(({ value, label }) =>
        html`<${Choice} key=${value} name="light" label=${label} checked=${theme.value === value}
          choose=${() => chooseTheme(value)} />`)}</div>
    </section>
    <section class="setting" aria-labelledby="colours-title">
      <h2 id="colours-title">Colours</h2>
      <p class="fine">${themes.length ? "Themes come with plugins. For this browser."
        : "Plugins can bring themes; none that is on does."}</p>
      <div role="radiogroup" aria-labelledby="colours-title">
        <${Choice} name="colours" label="svc" checked=${chosen === ""} choose=${() => choose("")} />
        ${themes.map((one) => html`<${Choice} key=${idOf(one)} name="colours" label=${one.title} note=${one.plugin}
          checked=${chosen === idOf(one)} choose=${() => choose(idOf(one))} />`)}
      </div>
    </section>`;
}

/** @param {{ name: string, label: string, note?: string, checked: boolean, choose: () => void }} props */
function Choice({ name, label, note, checked, choose }) {
  return html`<label class="choice"><input type="radio" name=${name} checked=${checked} onChange=${choose} />
    <span>${label}${note && html`<span class="fine">${note}</span>`}</span></label>`;
}
