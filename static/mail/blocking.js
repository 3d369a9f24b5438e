// @ts-check
/**
 * Blocks a sender: a dialog asks where their mail goes, in which accounts, and what happens to the mail that is already
 * here.
 */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { plural } from "../ui/format.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { Modal } from "../ui/modal.js";
import { accountOf, accounts, isShared } from "./accounts.js";
import { inOrder, newGroup, offerUndo } from "./actions.js";
import { opened } from "./details.js";
import { stepChanged } from "./everything.js";
import { isMe } from "./names.js";

/** @typedef {{ messageId: string, address: string, accountId: string }} Asked */
/** @typedef {MailBlockedSenderOut["to"]} Place */

const asked = signal(/** @type {Asked | null} */ (null));

/** @type {Record<Place, string>} */
export const PLACE_WORDS = { trash: "the trash", spam: "spam" };

/**
 * Whether a message's sender can be blocked: only in the person's own accounts, and never the person's own address.
 * @param {Message} message
 */
export function mayBlock(message) {
  const account = accountOf(opened.value?.detail?.thread.accountId ?? null);
  return account !== null && !isShared(account) && message.from.address.includes("@") && !isMe(message.from.address);
}

/** The newest message of the open thread whose sender can be blocked. */
export function blockable() {
  return opened.value?.detail?.messages.findLast(mayBlock) ?? null;
}

/** @param {Message} message of the open thread */
export function askToBlock(message) {
  const accountId = opened.value?.detail?.thread.accountId;
  if (accountId) asked.value = { messageId: message.id, address: message.from.address, accountId };
}

export function BlockDialog() {
  return asked.value && html`<${Question} key=${asked.value.messageId} about=${asked.value} />`;
}

/** @param {{ about: Asked }} props */
function Question({ about: { messageId, address, accountId } }) {
  const [to, setTo] = useState(/** @type {Place} */ ("trash"));
  const [everywhere, setEverywhere] = useState(true);
  const [move, setMove] = useState(true);
  const { busy, problem, run } = useAction();
  const { here, known } = useHere(address, everywhere ? null : accountId);
  const own = (accounts.value ?? []).filter((one) => !isShared(one));
  const close = () => {
    asked.value = null;
  };
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    void run(async () => {
      const found = move ? await known() : null; // it may be pressed before the answer is here
      await block({ messageId, address, to, everywhere, moved: found?.count ? found : null });
      close();
    });
  };
  /** @param {string} name @param {boolean} checked @param {() => void} choose @param {unknown} words */
  const choice = (name, checked, choose, words) => html`<label class="choice">
    <input type="radio" name=${name} checked=${checked} onChange=${choose} /><span>${words}</span></label>`;
  return html`<${Modal} label="Block sender" class="block-dialog" close=${close}>
    <form onSubmit=${submit}>
      <h2>Block <bdi>${address}</bdi>?</h2>
      <fieldset><legend>What this address sends from now on goes to</legend>
        ${choice("block-to", to === "trash", () => setTo("trash"), "Trash")}
        ${choice("block-to", to === "spam", () => setTo("spam"), "Spam")}
      </fieldset>
      ${own.length > 1 && html`<fieldset><legend>In</legend>
        ${choice("block-in", everywhere, () => setEverywhere(true), "all my accounts")}
        ${choice("block-in", !everywhere, () => setEverywhere(false),
          html`<bdi>${accountOf(accountId)?.address}</bdi>`)}
      </fieldset>`}
      <label class="choice"><input type="checkbox" checked=${move} disabled=${here?.count === 0}
        onChange=${() => setMove(!move)} /><span>Also move what is here${here ? `: ${here.count
          ? plural(here.count, "thread") : "nothing"}` : ""}</span></label>
      <p class="fine">You are not notified of it, and the sender does not learn of it. Blocked senders are listed in
        Settings.</p>
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
      <div class="dialog-foot">
        <button class="button danger" aria-busy=${busy}>Block</button>
        <button type="button" class="button" onClick=${close}>Cancel</button>
      </div>
    </form>
  </${Modal}>`;
}

/**
 * The stored threads from that address, selected on the server; null while that is not known. `known` waits for it, and
 * is null if it could not be asked.
 * @param {string} address
 * @param {string | null} accountId
 */
function useHere(address, accountId) {
  const [here, setHere] = useState(/** @type {MailSelectedOut | null} */ (null));
  const asking = useRef(/** @type {Promise<MailSelectedOut | null>} */ (Promise.resolve(null)));
  useLayoutEffect(() => {
    let left = false;
    setHere(null);
    asking.current = mutate("mail.selectAll", { sender: address, ...(accountId && { accountId }) })
      .catch(() => null);
    void asking.current.then((found) => left || setHere(found));
    return () => {
      left = true;
    };
  }, [address, accountId]);
  return { here, known: () => asking.current };
}

/**
 * Blocks the sender in one step, which one undo takes back.
 * @param {{ messageId: string, address: string, to: Place, everywhere: boolean, moved: MailSelectedOut | null }} wanted
 */
async function block({ messageId, address, to, everywhere, moved }) {
  const group = newGroup();
  await inOrder(async () => {
    await mutate("mail.blockSender", { messageId, to, everywhere, group });
    if (moved) stepChanged(await mutate("mail.actOnAll", { id: moved.id, do: to, sender: address, group }));
  });
  offerUndo(`Blocked ${address}${moved ? `, and ${plural(moved.count, "thread")} moved to ${PLACE_WORDS[to]}` : ""}`);
}
