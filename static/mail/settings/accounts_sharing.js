// @ts-check
/** The people with whom an account is shared: the owner sets them here, and a member may leave. */
import { useCallback, useEffect, useState } from "preact/hooks";
import { mutate, query } from "../../rpc.js";
import { me } from "../../session.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { plural } from "../../ui/format.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { toast } from "../../ui/toast.js";
import { reasonOf } from "../../settings/fetched.js";
import { accountRemoved } from "../accounts.js";

/** @typedef {MailShareOut["access"]} SharedAccess */

/** @type {Record<SharedAccess, string>} */
const WORDS = { read: "May read", act: "May read and act" };

/** An own account: the people who also see it. Fetched when it is unfolded. @param {{ account: Account }} props */
export function Sharing({ account }) {
  const [open, setOpen] = useState(false);
  const [shares, setShares] = useState(/** @type {MailShareOut[] | null} */ (null));
  const [people, setPeople] = useState(/** @type {Colleague[]} */ ([]));
  const [problem, setProblem] = useState("");
  const load = useCallback(async () => {
    try {
      const [found, everybody] = await Promise.all([
        query("mail.accountShares", { accountId: account.id }), query("users.directory")]);
      setShares(found);
      setPeople(everybody);
      setProblem("");
    } catch (error) {
      setProblem(reasonOf(error));
    }
  }, [account.id]);
  useEffect(() => {
    if (open) void load();
  }, [open, account.sharedWith, load]);
  const set = async (/** @type {string} */ userId, /** @type {string} */ access) => {
    try {
      if (access) await mutate("mail.shareAccount", { accountId: account.id, userId,
        access: /** @type {SharedAccess} */ (access) });
      else await mutate("mail.unshareAccount", { accountId: account.id, userId });
      toast(access ? "Shared." : "Not shared with them any more.");
    } catch (error) {
      setProblem(reasonOf(error));
    }
    await load();
  };
  const count = account.sharedWith;
  const title = count > 0 ? `Shared with ${plural(count, "person", "people")}` : "Share";
  return html`<details class="folded" open=${open}
    onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
    <summary aria-label=${`${title}: ${account.address}`}><${Icon} name="chevron" size=${14} /> ${title}</summary>
    <p class="fine">Who may read sees all of this account's mail, and nothing else of yours. Who may act also archives,
      labels and sends from it; each act says who did it.</p>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    ${shares && html`<ul class="things">${shares.map((one) => html`<${ShareRow} key=${one.userId} share=${one}
      set=${(/** @type {string} */ access) => set(one.userId, access)} />`)}</ul>
      <${AddRow} people=${candidates(people, shares)} account=${account} add=${set} />`}
  </details>`;
}

/** @param {{ share: MailShareOut, set: (access: string) => void }} props */
function ShareRow({ share, set }) {
  const name = share.name || share.address;
  return html`<li class="thing">
    <span class="thing-text"><bdi>${name}</bdi>${" "}
      ${share.name && html`<span class="fine"><bdi>${share.address}</bdi></span>`}</span>
    <select aria-label=${`What ${name} may do`} value=${share.access}
      onChange=${(/** @type {{ currentTarget: HTMLSelectElement }} */ event) => set(event.currentTarget.value)}>
      <option value="">Nothing</option>
      ${Object.entries(WORDS).map(([access, words]) => html`<option key=${access} value=${access}>${words}</option>`)}
    </select>
  </li>`;
}

/**
 * @param {{ people: Colleague[], account: Account, add: (userId: string, access: string) => Promise<void> }} props
 */
function AddRow({ people, account, add }) {
  const [userId, setUserId] = useState("");
  const [access, setAccess] = useState("read");
  if (!people.length) return html`<p class="fine">There is nobody else to share it with. An admin invites people.</p>`;
  const share = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!userId) return;
    await add(userId, access);
    setUserId("");
  };
  return html`<form class="account-name-row" onSubmit=${share}>
    <select aria-label=${`Share ${account.address} with`} value=${userId}
      onChange=${(/** @type {{ currentTarget: HTMLSelectElement }} */ event) => setUserId(event.currentTarget.value)}>
      <option value="">Choose a person</option>
      ${people.map((one) => html`<option key=${one.id} value=${one.id}>${one.name || one.email}</option>`)}
    </select>
    <select aria-label="What they may do" value=${access}
      onChange=${(/** @type {{ currentTarget: HTMLSelectElement }} */ event) => setAccess(event.currentTarget.value)}>
      ${Object.entries(WORDS).map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`)}
    </select>
    <button class="button small" disabled=${!userId}>Share</button>
  </form>`;
}

/** @param {Colleague[]} people @param {MailShareOut[]} shares */
function candidates(people, shares) {
  const taken = new Set([me.value?.user?.id, ...shares.map(({ userId }) => userId)]);
  return people.filter(({ id }) => !taken.has(id));
}

/** An account that another person shares. @param {{ account: Account }} props */
export function SharedCard({ account }) {
  const leave = async () => {
    const userId = me.value?.user?.id;
    if (!userId) return;
    await mutate("mail.unshareAccount", { accountId: account.id, userId });
    accountRemoved(account.id);
  };
  return html`<section class="setting account" aria-labelledby=${`account-${account.id}`}>
    <h2 id=${`account-${account.id}`}><${Icon} name="people" /> ${account.address}</h2>
    <p><bdi>${account.owner}</bdi> shares it with you. ${account.access === "act"
      ? "You may read it and act in it: what you do there says that it was you."
      : "You may read it."}</p>
    <div class="account-foot"><${ConfirmButton} label="Leave" what=${account.address} sure="Leave"
      question="You see nothing of it any more, until it is shared with you again." run=${leave} /></div>
  </section>`;
}
