// @ts-check
/** Settings, Appearance: the colour theme of the app in this browser. Light or dark is chosen under Display. */
import { useEffect } from "preact/hooks";
import { html } from "../ui/html.js";
import { loadOffers, offers } from "./offers.js";
import { chooseStyle, idOf, style } from "./style.js";

export function AppearanceSection() {
  useEffect(() => void loadOffers(), []);
  const themes = offers.value?.themes ?? [];
  const chosen = style.value?.id ?? "";
  const choose = (/** @type {string} */ id) => {
    const found = themes.find((one) => idOf(one) === id);
    chooseStyle(found ? { id, tokens: found.tokens } : null);
  };
  return html`<section class="setting" aria-labelledby="colours-title">
      <h2 id="colours-title">Theme</h2>
      <p class="fine">${themes.length ? "Themes come with plugins. For this browser."
        : "Plugins can bring themes; none that is on does."} Light or dark is chosen under${" "}
        <a href="/settings/display">Display</a>.</p>
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
