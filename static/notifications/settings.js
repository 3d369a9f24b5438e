// @ts-check
/**
 * Settings, Notifications: this browser, the accounts to be notified of, quiet hours, and the other browsers that
 * receive pushes.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { day } from "../settings/dates.js";
import { Pending, reasonOf, useFetched } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { browserId, refreshState, state, turnOff, turnOn } from "./browser.js";

/** @typedef {OutputOf<"notifications.settings">} Settings */

/** @type {{ value: Settings["words"], label: string }[]} */
const WORDS = [
  { value: "all", label: "Sender, subject and how it begins" },
  { value: "sender", label: "Sender and subject" },
  { value: "none", label: "Only that there is new mail" },
];
const NIGHT = { begin: 22 * 60, end: 7 * 60 };
/** @type {Record<typeof state.value, string>} */
const SAID = {
  unable: "This browser shows no notifications. On a phone, install the app first: add it to the home screen.",
  denied: "This browser was told not to show notifications of this site. Its own settings can allow them again.",
  off: "Off in this browser.",
  open: "You are told while svc is open here, and nobody looks at it.",
  push: "You are told here, also while svc is closed.",
};

export function NotificationsSection() {
  const fetched = useFetched("notifications.settings");
  const { settings, save } = useChosen(fetched);
  return html`<${ThisBrowser} reload=${fetched.load} />
    <${Pending} of=${fetched} what="your notifications" />
    ${settings && html`<${Accounts} settings=${settings} save=${save} />
      <${Words} settings=${settings} save=${save} />
      <${QuietHours} settings=${settings} save=${save} />
      <${Browsers} settings=${settings} reload=${fetched.load} />`}`;
}

/**
 * The settings as the person chose them. A save contains all of them: each builds on the previous choice, not on the
 * server's last answer, and is sent after the previous save.
 * @param {{ data: Settings | null, load: () => Promise<void> }} fetched
 */
function useChosen({ data, load }) {
  const [shown, setShown] = useState(/** @type {Partial<Settings>} */ ({}));
  const chosen = useRef(shown);
  const line = useRef(Promise.resolve());
  const choose = (/** @type {Partial<Settings>} */ choice) => {
    chosen.current = choice;
    setShown(choice);
  };
  const keep = async (/** @type {Pick<Settings, "accountIds" | "words" | "quiet">} */ choice) => {
    try {
      await mutate("notifications.set", choice);
    } catch (error) {
      toast(`Could not save: ${reasonOf(error)}`, { tone: "error" });
    }
    if (chosen.current === choice) await load();
    if (chosen.current === choice) choose({});
  };
  const save = async (/** @type {Partial<Settings>} */ change) => {
    if (!data) return;
    const { accountIds, words, quiet } = { ...data, ...chosen.current, ...change };
    const choice = { accountIds, words, quiet };
    choose(choice);
    line.current = line.current.then(() => keep(choice));
    await line.current;
  };
  return { settings: data && { ...data, ...shown }, save };
}

/** @param {{ reload: () => Promise<void> }} props */
function ThisBrowser({ reload }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  useEffect(() => void refreshState(), []);
  const on = state.value === "open" || state.value === "push";
  const act = async (/** @type {() => Promise<string | void>} */ step) => {
    if (busy) return;
    setBusy(true);
    try {
      const hindrance = await step();
      setProblem(hindrance ? `Pushes do not work here (${hindrance}): you are told while svc is open.` : "");
    } catch (error) {
      setProblem(reasonOf(error));
    }
    setBusy(false);
    await reload();
  };
  const tryIt = async () => mutate("notifications.test", { browserId: await browserId() }).then(() => "");
  return html`<section class="setting" aria-labelledby="this-browser-title">
    <h2 id="this-browser-title">This browser</h2>
    <p class="fine" role="status">${SAID[state.value]}</p>
    <p class="notify-buttons">
      ${state.value === "off" && html`<button class="button" aria-busy=${busy} onClick=${() => act(turnOn)}>
        Turn on here</button>`}
      ${on && html`<button class="button" aria-busy=${busy} onClick=${() => act(turnOff)}>Turn off here</button>`}
      ${state.value === "push" && html`<button class="button" aria-busy=${busy} onClick=${() => act(tryIt)}>
        Try it</button>`}
    </p>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </section>`;
}

/** @param {{ settings: Settings, save: (change: Partial<Settings>) => Promise<void> }} props */
function Accounts({ settings, save }) {
  const accounts = useFetched("mail.accounts");
  const chosen = new Set(settings.accountIds);
  const toggle = (/** @type {string} */ id) => save({ accountIds: chosen.has(id)
    ? settings.accountIds.filter((one) => one !== id) : [...settings.accountIds, id] });
  return html`<section class="setting" aria-labelledby="hear-of-title">
    <h2 id="hear-of-title">New mail of</h2>
    <p class="fine">In all your browsers. Only mail that comes to the inbox, and not of muted threads.</p>
    <${Pending} of=${accounts} what="the accounts" />
    <div role="group" aria-labelledby="hear-of-title">${accounts.data?.map(({ id, address }) =>
      html`<label key=${id} class="choice"><input type="checkbox" checked=${chosen.has(id)}
        onChange=${() => void toggle(id)} /><span><bdi>${address}</bdi></span></label>`)}</div>
  </section>`;
}

/** @param {{ settings: Settings, save: (change: Partial<Settings>) => Promise<void> }} props */
function Words({ settings, save }) {
  return html`<section class="setting" aria-labelledby="words-title">
    <h2 id="words-title">What a notification says</h2>
    <p class="fine">It is encrypted on its way, and stands on locked screens.</p>
    <div role="radiogroup" aria-labelledby="words-title">${WORDS.map(({ value, label }) =>
      html`<label key=${value} class="choice"><input type="radio" name="words" checked=${settings.words === value}
        onChange=${() => void save({ words: value })} /><span>${label}</span></label>`)}</div>
  </section>`;
}

/** @param {{ settings: Settings, save: (change: Partial<Settings>) => Promise<void> }} props */
function QuietHours({ settings, save }) {
  const { quiet } = settings;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const set = (/** @type {"begin" | "end"} */ which) => (/** @type {Event} */ event) => {
    const minutes = minutesOf(/** @type {HTMLInputElement} */ (event.currentTarget).value);
    if (minutes !== null) void save({ quiet: { ...(quiet ?? NIGHT), timeZone, [which]: minutes } });
  };
  return html`<section class="setting" aria-labelledby="quiet-title">
    <h2 id="quiet-title">Quiet hours</h2>
    <label class="choice"><input type="checkbox" checked=${quiet !== null}
      onChange=${() => void save({ quiet: quiet ? null : { ...NIGHT, timeZone } })} />
      <span>Tell me nothing at night</span></label>
    ${quiet && html`<p class="notify-hours">
      <label>From <input type="time" required value=${timeOf(quiet.begin)} onChange=${set("begin")} /></label>
      <label>to <input type="time" required value=${timeOf(quiet.end)} onChange=${set("end")} /></label>
      <span class="fine">${quiet.timeZone}</span></p>`}
  </section>`;
}

/** @param {{ settings: Settings, reload: () => Promise<void> }} props */
function Browsers({ settings, reload }) {
  if (!settings.browsers.length) return null;
  const remove = async (/** @type {Settings["browsers"][number]} */ one) => {
    if (one.current) await turnOff();
    else await mutate("notifications.unsubscribe", { browserId: one.id });
    await reload();
  };
  return html`<section class="setting" aria-labelledby="browsers-title">
    <h2 id="browsers-title">Browsers that take pushes</h2>
    <ul class="things">${settings.browsers.map((one) => html`<li key=${one.id} class="thing">
      <span class="thing-icon"><${Icon} name="bell" /></span>
      <div class="thing-text">
        <p class="thing-title">${one.current ? "This session" : "Another session"}</p>
        <p class="fine">Through <bdi>${one.service}</bdi> since ${day(one.since)}</p>
        ${one.problem && html`<p class="form-problem">${one.problem}</p>`}
      </div>
      <${ConfirmButton} label="Remove" what=${one.service} run=${() => remove(one)} />
    </li>`)}</ul>
  </section>`;
}

/** @param {number} minutes of the day */
function timeOf(minutes) {
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}

/** @param {string} text */
function minutesOf(text) {
  const match = /^(\d\d):(\d\d)/.exec(text);
  return match ? Number(match[1]) * 60 + Number(match[2]) : null;
}
