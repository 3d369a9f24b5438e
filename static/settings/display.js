// @ts-check
/** Settings, Display: colours and density of lists, for this browser; dates and start page, for all browsers of the
 * person. */
import { chooseDensity, density } from "../frame.js";
import { accounts } from "../mail/accounts.js";
import { now } from "../now.js";
import { chooseTheme, theme } from "../theme.js";
import { clockTime, longDate, wholeDate } from "../ui/dates.js";
import { html } from "../ui/html.js";
import { prefer, preferences } from "./preferences.js";

/** @template {string} Value @typedef {{ value: Value, label: string }} Option */
/** @type {Option<import("../theme.js").Theme>[]} */
const COLOURS = [{ value: "system", label: "As the system" }, { value: "light", label: "Light" },
  { value: "dark", label: "Dark" }];
/** @type {Option<import("../frame.js").Density>[]} */
const DENSITIES = [{ value: "comfortable", label: "Comfortable" }, { value: "compact", label: "Compact" }];
/** @type {Option<import("./preferences.js").Preferences["hours"]>[]} */
const HOURS = [{ value: "auto", label: "As the language" }, { value: "24", label: "24 hours" },
  { value: "12", label: "12 hours" }];
/** @type {Option<import("./preferences.js").Preferences["dateOrder"]>[]} */
const ORDERS = [{ value: "auto", label: "As the language" }, { value: "day", label: "Day first" },
  { value: "month", label: "Month first" }, { value: "year", label: "Year first" }];
/** @type {Option<import("./preferences.js").Preferences["weekStart"]>[]} */
const WEEKS = [{ value: "auto", label: "As the language" }, { value: "monday", label: "Monday" },
  { value: "sunday", label: "Sunday" }, { value: "saturday", label: "Saturday" }];
/** The languages of dates that are offered besides the browser's own. Each is shown by its own name for itself. */
const LANGUAGES = ["en-GB", "en-US", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "sv", "da", "nb", "fi", "tr", "el",
  "uk", "ja", "zh-Hans", "ko"];

export function DisplaySection() {
  return html`<section class="setting" aria-labelledby="display-title">
    <h2 id="display-title">In this browser</h2>
    <p class="fine">Kept in this browser: another one, such as your phone, has its own.</p>
    <${Choice} name="colours" title="Colours" options=${COLOURS} chosen=${theme.value} choose=${chooseTheme} />
    <${Choice} name="density" title="Lists" options=${DENSITIES} chosen=${density.value} choose=${chooseDensity} />
    <p class="fine">Compact lists show more rows, each without the line of its message.</p>
  </section>
  <${Dates} />
  <${Start} />`;
}

function Dates() {
  const { language, hours, dateOrder, weekStart } = preferences.value;
  const at = new Date(now.value);
  return html`<section class="setting" aria-labelledby="dates-title">
    <h2 id="dates-title">Dates and times</h2>
    <p class="fine">Kept with your account: every browser of yours has them.</p>
    <p class="display-sample">${longDate(at)}, ${clockTime(at)} · ${wholeDate(at)}</p>
    <label class="display-line"><span>Language of dates</span>
      <select value=${language} onChange=${chosen((one) => prefer({ language: one }))}>
        <option value="">As this browser</option>
        ${LANGUAGES.map((one) => html`<option key=${one} value=${one} lang=${one}>${nameOf(one)}</option>`)}
      </select></label>
    <${Choice} name="hours" title="Hours" options=${HOURS} chosen=${hours}
      choose=${(/** @type {typeof hours} */ one) => prefer({ hours: one })} />
    <${Choice} name="order" title="Order" options=${ORDERS} chosen=${dateOrder}
      choose=${(/** @type {typeof dateOrder} */ one) => prefer({ dateOrder: one })} />
    <${Choice} name="week" title="A week begins on" options=${WEEKS} chosen=${weekStart}
      choose=${(/** @type {typeof weekStart} */ one) => prefer({ weekStart: one })} />
    <p class="fine">Also for times that you type: “1/12” is read in this order, and “next Sunday” is the one in
      the week that begins next.</p>
  </section>`;
}

function Start() {
  const { startPage, startAccount } = preferences.value;
  const known = accounts.value ?? [];
  const value = startPage === "account" ? `account ${startAccount}` : startPage;
  const choose = (/** @type {string} */ one) => {
    const [page = "", account = ""] = one.split(" ");
    return prefer({ startPage: /** @type {typeof startPage} */ (page), startAccount: account });
  };
  return html`<section class="setting" aria-labelledby="start-title">
    <h2 id="start-title">Start page</h2>
    <label class="display-line"><span>The app opens with</span>
      <select value=${value} onChange=${chosen(choose)}>
        <option value="inbox">Inbox of all accounts</option>
        ${known.map(({ id, address }) => html`<option key=${id} value=${`account ${id}`}>Inbox of ${address}</option>`)}
        ${startPage === "account" && !known.some(({ id }) => id === startAccount)
          && html`<option value=${value}>An account that is not there</option>`}
        <option value="tasks">Tasks</option>
        <option value="pages">Pages</option>
        <option value="last">Where this browser was last</option>
      </select></label>
  </section>`;
}

/** @param {(value: string) => unknown} choose */
function chosen(choose) {
  return (/** @type {Event} */ event) => void choose(/** @type {HTMLSelectElement} */ (event.target).value);
}

/** A language's name in that language. @param {string} tag */
function nameOf(tag) {
  return new Intl.DisplayNames([tag], { type: "language" }).of(tag) ?? tag;
}

/**
 * @template {string} Value
 * @param {{ name: string, title: string, options: Option<Value>[], chosen: Value,
 *   choose: (value: Value) => void }} props
 */
function Choice({ name, title, options, chosen: current, choose }) {
  return html`<fieldset class="display-choice">
    <legend>${title}</legend>
    <div class="display-options">${options.map(({ value, label }) => html`<label key=${value}><input type="radio"
      name=${name} value=${value} checked=${value === current} onChange=${() => choose(value)} /> ${label}</label>`)}
    </div>
  </fieldset>`;
}
