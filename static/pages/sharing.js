// @ts-check
/** The dialog that sets who may read and write a page: the same people as for the page above, or its own list. */
import { useEffect, useState } from "preact/hooks";
import { mutate, query } from "../rpc.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";
import { Dialog } from "./dialog.js";

const EVERYONE = "everyone";

/** @param {{ page: PageDetail, close: () => void, reload: () => Promise<void> }} props */
export function SharingDialog({ page, close, reload }) {
  const [access, setAccess] = useState(page.access);
  const [grants, setGrants] = useState(page.grants);
  const { busy, problem, run } = useAction();
  const users = useUsers();
  const save = async () => {
    const given = access === "explicit" ? grants.map(({ to, level }) => ({ to, level })) : [];
    await mutate("pages.setAccess", { path: page.path, access, grants: given });
    close();
    toast("The sharing was changed.");
    await reload();
  };
  const setLevel = (/** @type {string} */ to, /** @type {string} */ name, /** @type {string} */ level) => {
    const others = grants.filter((one) => one.to !== to);
    setGrants(level === "read" || level === "write" ? [...others, { to, level, name }] : others);
  };
  return html`<${Dialog} id="sharing-title" title="Share" close=${close}>
    <form class="sharing" onSubmit=${(/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      void run(save);
    }}>
      <fieldset>
        <legend class="sr-only">Who may see this page and what is below it</legend>
        <${Choice} value="inherited" chosen=${access} choose=${setAccess} label="As the page above"
          hint="People who may read or write the page above may do so here. Without one, it is yours alone." />
        <${Choice} value="explicit" chosen=${access} choose=${setAccess} label="People of its own"
          hint="Only those named here, and you." />
      </fieldset>
      ${access === "explicit" && html`<${Grants} grants=${grants} users=${users} owner=${page.owner?.id ?? null}
        setLevel=${setLevel} />`}
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
      <div class="dialog-foot"><button class="button primary" aria-busy=${busy}>Save</button>
        <button type="button" class="button" onClick=${close}>Cancel</button></div>
    </form>
  </${Dialog}>`;
}

/**
 * @param {{ value: PageAccess, chosen: PageAccess, choose: (value: PageAccess) => void, label: string, hint: string }}
 * props
 */
function Choice({ value, chosen, choose, label, hint }) {
  return html`<label class="choice">
    <input type="radio" name="access" checked=${chosen === value} onChange=${() => choose(value)} />
    <span>${label}<span class="fine">${hint}</span></span>
  </label>`;
}

/**
 * @param {{ grants: PageGrant[], users: Colleague[], owner: string | null, setLevel: (to: string, name: string, level:
 * string) => void }} props
 */
function Grants({ grants, users, owner, setLevel }) {
  const named = grants.filter((one) => one.to !== EVERYONE);
  const others = users.filter((user) => user.id !== owner && !named.some((one) => one.to === user.id));
  const add = (/** @type {{ currentTarget: HTMLSelectElement }} */ event) => {
    const user = others.find((one) => one.id === event.currentTarget.value);
    if (user) setLevel(user.id, user.name || user.email, "read");
  };
  return html`<ul class="things">
      <${GrantRow} name="Everyone who is signed in" level=${grants.find((one) => one.to === EVERYONE)?.level ?? ""}
        set=${(/** @type {string} */ level) => setLevel(EVERYONE, "", level)} />
      ${named.map((one) => html`<${GrantRow} key=${one.to} name=${one.name || one.to} level=${one.level}
        set=${(/** @type {string} */ level) => setLevel(one.to, one.name ?? "", level)} />`)}
    </ul>
    ${others.length > 0 && html`<label class="field">Add a person
      <select value="" onChange=${add}><option value="">Choose</option>
        ${others.map((user) => html`<option key=${user.id} value=${user.id}>${user.name ? `${user.name} (${user.email})`
          : user.email}</option>`)}</select>
    </label>`}`;
}

/** @param {{ name: string, level: string, set: (level: string) => void }} props */
function GrantRow({ name, level, set }) {
  return html`<li class="thing">
    <span class="thing-text">${name}</span>
    <select aria-label=${name} value=${level} onChange=${(/** @type {{ currentTarget: HTMLSelectElement }} */ event) =>
      set(event.currentTarget.value)}>
      <option value="">Nothing</option><option value="read">May read</option><option value="write">May write</option>
    </select>
  </li>`;
}

/** The people that the page can be shared with. */
function useUsers() {
  const [users, setUsers] = useState(/** @type {Colleague[]} */ ([]));
  useEffect(() => {
    query("users.directory").then(setUsers, () => toast("Could not load the list of people.", { tone: "error" }));
  }, []);
  return users;
}
