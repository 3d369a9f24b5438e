// @ts-check
/** The form for one rule: conditions, a question to the model, actions. It can be tried on the person's own mail. */
import { useState } from "preact/hooks";
import { accounts, isShared } from "../mail/accounts.js";
import { mutate } from "../rpc.js";
import { dollars, plural } from "../ui/format.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { listOf, TextField } from "../ui/text_field.js";
import { toast } from "../ui/toast.js";

/** @typedef {OutputOf<"rules.list">[number]["rule"]} Rule */
/** @typedef {Rule["then"][number]} Action */
/** @typedef {OutputOf<"rules.test">} Tried */

/** @type {Rule} */
export const EMPTY = { enabled: false, order: 100, account: null, ask: null, except: [],
  when: { from: [], to: [], subject: [], has: [], list: [], label: [], words: [] },
  then: [{ what: "archive", value: "" }] };

/** @type {readonly [keyof Rule["when"], string, string][]} */
const CONDITIONS = [
  ["from", "From", "ann@example.com, example.com, or * for anybody"],
  ["to", "To", "an address of yours, or a domain"],
  ["subject", "Subject has", "invoice"],
  ["words", "Words in the mail, all of them", "pay, due"],
  ["list", "Sent to a list", "* for any list"],
  ["label", "Has the label", "Shop"],
];
/** @type {readonly [Action["what"], string, string][]} */
const ACTIONS = [
  ["archive", "Skip the inbox", ""], ["star", "Star", ""], ["mark-read", "Mark as read", ""],
  ["label", "Put the label", "Invoices"], ["file", "File on the page", "notes/invoices"],
  ["task", "Make the task", "Pay it"], ["draft", "Draft a reply", "Thank them, and say that I answer next week."],
  ["stop", "Stop: no later rule", ""],
];

/**
 * @param {{ edited: import("./settings.js").Edited, write: (part: Partial<import("./settings.js").Edited>) => void,
 *   done: () => Promise<void> }} props
 */
export function Editor({ edited, write, done }) {
  const { title, rule } = edited;
  const [tried, setTried] = useState(/** @type {Tried | null} */ (null));
  const { busy, problem, run } = useAction();
  const change = (/** @type {Partial<Rule>} */ part) => {
    write({ rule: { ...rule, ...part } });
    setTried(null);
  };
  const save = (/** @type {boolean} */ enabled) => run(async () => {
    await mutate("rules.save", { ...(edited.path ? { path: edited.path } : {}), title, rule: { ...rule, enabled } });
    toast(enabled ? "Saved and on. It holds for mail that comes from now on." : "Saved, and off.");
    await done();
  });
  return html`<form class="rules-editor setting" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <${TextField} label="Name" value=${title}
      set=${(/** @type {string} */ text) => write({ title: text })} hint="What it is for" first />
    <h2>When all of this holds</h2>
    <${AccountField} value=${rule.account} set=${(/** @type {string | null} */ account) => change({ account })} />
    ${CONDITIONS.map(([name, label, hint]) => html`<${TextField} key=${name} label=${label} hint=${hint}
      value=${rule.when[name].join(", ")} set=${(/** @type {string} */ text) =>
        change({ when: { ...rule.when, [name]: listOf(text) } })} />`)}
    <label class="choice"><input type="checkbox" checked=${rule.when.has.length > 0} onChange=${() =>
      change({ when: { ...rule.when, has: rule.when.has.length > 0 ? [] : ["attachment"] } })} />
      <span>Has an attachment</span></label>
    <${TextField} label="And the model says yes to" value=${rule.ask ?? ""} hint="Is this an advert? Or nothing"
      set=${(/** @type {string} */ text) => change({ ask: text || null })} />
    <${TextField} label="But never for these senders" value=${rule.except.join(", ")} hint="boss@example.com"
      set=${(/** @type {string} */ text) => change({ except: listOf(text) })} />
    <h2>Then</h2>
    ${ACTIONS.map(([what, label, hint]) => html`<${Act} key=${what} what=${what} label=${label} hint=${hint}
      then=${rule.then} set=${(/** @type {Action[]} */ then) => change({ then })} />`)}
    <${TextField} label="Order among the rules" value=${String(rule.order)} hint="The smallest is first"
      set=${(/** @type {string} */ text) => change({ order: Number.parseInt(text, 10) || 0 })} />
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    <p class="rules-acts">
      <button type="button" class="button primary" disabled=${!title.trim()} onClick=${() => save(true)}>Save and switch
        on</button>
      <button type="button" class="button" disabled=${!title.trim()} onClick=${() => save(false)}>Save, off</button>
      <button type="button" class="button" aria-busy=${busy} onClick=${() =>
        run(async () => setTried(await mutate("rules.test", { rule })))}>Try it</button>
      <button type="button" class="button" onClick=${done}>Cancel</button>
    </p>
    ${tried && html`<${Result} tried=${tried} />`}
  </form>`;
}

/**
 * Chooses the rule's account. Shown where the person has several accounts, or the rule names one.
 * @param {{ value: string | null, set: (address: string | null) => void }} props
 */
function AccountField({ value, set }) {
  const own = (accounts.value ?? []).filter((one) => !isShared(one));
  const there = own.map((one) => one.address.toLowerCase());
  const known = [...new Set(value && !there.includes(value) ? [...there, value] : there)];
  if (known.length < 2 && !value) return null;
  return html`<label class="field"><span>Mail of</span>
    <select value=${value ?? ""} onChange=${(/** @type {Event} */ event) =>
      set(/** @type {HTMLSelectElement} */ (event.target).value || null)}>
      <option value="">all my accounts</option>
      ${known.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
    </select></label>`;
}

/** @param {{ tried: Tried }} props */
function Result({ tried }) {
  return html`<section class="rules-tried" role="status" aria-label="What it would match">
    <p>Of your newest ${plural(tried.checked, "mail")}, it matches ${plural(tried.matched.length, "thread")}.${
      tried.calls > 0 && ` Asking the model about them would cost ${dollars(tried.cost)} at most.`}</p>
    <ul>${tried.samples.map((one) => html`<li key=${one.threadId}><a href=${`/p/mail/t/${one.threadId}`}><bdi>${
      one.subject || "(no subject)"}</bdi></a> from <bdi>${one.sender}</bdi>: <bdi>${one.because}</bdi></li>`)}</ul>
  </section>`;
}

/**
 * @param {{ what: Action["what"], label: string, hint: string, then: Action[], set: (then: Action[]) => void }} props
 */
function Act({ what, label, hint, then, set }) {
  const mine = then.filter((one) => one.what === what);
  const others = then.filter((one) => one.what !== what);
  return html`<div class="rules-act"><label class="choice"><input type="checkbox" checked=${mine.length > 0}
      onChange=${() => set(mine.length > 0 ? others : [...others, { what, value: "" }])} /><span>${label}</span></label>
    ${mine.length > 0 && hint && html`<${TextField}
      label=${what === "draft" ? "What it is to say" : `${label}: which`} hint=${hint} value=${mine[0]?.value ?? ""}
      set=${(/** @type {string} */ value) => set(then.map((one) => (one === mine[0] ? { what, value } : one)))} />`}
  </div>`;
}
