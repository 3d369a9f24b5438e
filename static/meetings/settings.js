// @ts-check
/** Settings, Meetings: which recogniser makes the transcripts. For admins. */
import { useEffect, useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";

/** @typedef {OutputOf<"meetings.settings">} Settings */
/** @typedef {Pick<Settings, "recogniser" | "serverUrl" | "model" | "language">} Choice */

export function MeetingsSection() {
  const fetched = useFetched("meetings.settings");
  return html`<${Pending} of=${fetched} what="who writes meetings down" />
    ${fetched.data && html`<${Choose} settings=${fetched.data} load=${fetched.load} />`}`;
}

/** @param {{ settings: Settings, load: () => Promise<void> }} props */
function Choose({ settings, load }) {
  const { recogniser, serverUrl, model, language, options, standIn } = settings;
  const [choice, setChoice] = useState(/** @type {Choice} */ ({ recogniser, serverUrl, model, language }));
  const { busy, problem, run } = useAction();
  useEffect(() => setChoice({ recogniser, serverUrl, model, language }), [recogniser, serverUrl, model, language]);
  const change = (/** @type {Partial<Choice>} */ part) => setChoice({ ...choice, ...part });
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    void run(async () => {
      await mutate("meetings.choose", choice);
      toast("Saved. It holds from the next meeting on.");
      await load();
    });
  };
  const missing = options.find(({ name }) => name === choice.recogniser)?.missing ?? "";
  return html`<section class="setting" aria-labelledby="recogniser-title">
    <h2 id="recogniser-title">Who writes down what is said</h2>
    ${standIn && html`<p class="fine">Under the fake providers ${standIn.toLowerCase()} listens, whatever is
      chosen.</p>`}
    <form class="meeting-choose" onSubmit=${save}>
      <div role="radiogroup" aria-labelledby="recogniser-title">${options.map(({ name, title, about }) =>
        html`<label key=${name} class="choice"><input type="radio" name="recogniser"
          checked=${choice.recogniser === name} onChange=${() => change({ recogniser: name })} />
          <span>${title}<span class="fine meeting-about">${about}</span></span></label>`)}</div>
      ${missing && html`<p class="form-problem" role="status">${missing}</p>`}
      ${choice.recogniser === "server" && html`<${Field} label="Address of the server"
        hint="Its key, if it wants one, is set under Settings, Credentials."
        placeholder="http://127.0.0.1:8000" value=${choice.serverUrl} set=${(/** @type {string} */ text) =>
          change({ serverUrl: text })} />`}
      ${(choice.recogniser === "server" || choice.recogniser === "vendor") && html`
        <${Field} label="Model" hint="Empty: the usual one." placeholder=${
          choice.recogniser === "server" ? "whisper-1" : "nova-3"} value=${choice.model}
          set=${(/** @type {string} */ text) => change({ model: text })} />
        <${Field} label="Language" hint="Empty: it is found out. Else its code." placeholder="en"
          value=${choice.language} set=${(/** @type {string} */ text) => change({ language: text })} />`}
      <p><button type="submit" class="button primary" aria-busy=${busy}>Save</button></p>
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    </form>
  </section>`;
}

/** @param {{ label: string, hint: string, placeholder: string, value: string, set: (text: string) => void }} props */
function Field({ label, hint, placeholder, value, set }) {
  return html`<label class="field"><span>${label}</span>
    <input type="text" autocomplete="off" spellcheck=${false} autocapitalize="none" placeholder=${placeholder}
      value=${value} onInput=${(/** @type {Event} */ event) =>
        set(/** @type {HTMLInputElement} */ (event.target).value)} />
    <span class="quiet-text">${hint}</span></label>`;
}
