// @ts-check
/**
 * Unsubscribes from a mailing: the button beside the sender, a question that says what will be done and who will be
 * informed, and the result.
 *
 * The server decides on the method; the question shows it, and the confirmation sends it back, so that nothing else is
 * done.
 */
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isTyping } from "../keys.js";
import { mutate, query } from "../rpc.js";
import { fullTime } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { opened } from "./details.js";

/** @typedef {MailUnsubscribeOfferOut} Offer */
/** @typedef {{ messageId: string, offer: Offer | null, busy: boolean }} Asking */

/** The current question to the person. */
const asking = signal(/** @type {Asking | null} */ (null));
/** Changes after an action, so that the shown state is fetched again. */
const done = signal(0);

/** Asks the person, showing the method. @param {string} messageId */
export async function askUnsubscribe(messageId) {
  asking.value = { messageId, offer: null, busy: true };
  try {
    const offer = await query("mail.unsubscribeOffer", { messageId });
    if (asking.value?.messageId === messageId) asking.value = { messageId, offer, busy: false };
  } catch (error) {
    asking.value = null;
    told(error);
  }
}

/** Asks to unsubscribe from the mailing of the open thread. */
export function askToLeave() {
  const message = mailingOpen();
  if (message) void askUnsubscribe(message.id);
}

/**
 * The newest message of the open thread that offers a way to unsubscribe; null if none does.
 * @returns {Message | null}
 */
export function mailingOpen() {
  const messages = opened.value?.detail?.messages ?? [];
  return messages.findLast((one) => one.canUnsubscribe) ?? null;
}

/** @param {{ message: Message }} props */
export function UnsubscribeButton({ message }) {
  if (!message.canUnsubscribe) return null;
  return html`<button class="link unsubscribe" onClick=${() => void askUnsubscribe(message.id)}>Unsubscribe</button>`;
}

/** The bar above the message: the question, or the result. @param {{ message: Message }} props */
export function UnsubscribeBar({ message }) {
  const past = usePast(message);
  const current = asking.value?.messageId === message.id ? asking.value : null;
  if (current) return html`<${Question} current=${current} />`;
  if (!past) return null;
  return html`<div class="blocked" role="note">
    <${Icon} name=${past.outcome === "failed" ? "warning" : "check"} size=${16} />
    <span>${wordsOf(past)}</span>
  </div>`;
}

/** @param {{ current: Asking }} props */
function Question({ current: { messageId, offer, busy } }) {
  const sure = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useLayoutEffect(() => {
    if (!isTyping()) sure.current?.focus(); // else the next space of a text would press it
  }, [offer !== null]);
  if (!offer) return html`<div class="blocked" role="status">Looking for a safe way to unsubscribe…</div>`;
  return html`<div class="blocked" role="group" aria-label="Unsubscribe">
    <span>${QUESTIONS[offer.method](offer.target)}</span>
    <span class="blocked-actions">
      <button class="button small" ref=${sure} aria-disabled=${busy} onClick=${() => void take(messageId, offer)}>
        ${offer.method === "link" ? "Open the page" : "Unsubscribe"}</button>
      <button class="button small" onClick=${() => { asking.value = null; }}>Cancel</button>
    </span>
  </div>`;
}

/** @type {Record<Offer["method"], (target: string) => unknown>} */
const QUESTIONS = {
  "one-click": (target) => html`The sender’s server, <b>${target}</b>, is asked to send you no more of this.`,
  mailto: (target) => html`A mail that asks for it goes to <b>${target}</b>, from this account’s address.`,
  link: (target) => html`This sender only offers a page at <b>${target}</b>. It opens in a new tab; nothing proves whose
    it is.`,
};

/** @param {string} messageId @param {Offer} offer */
async function take(messageId, offer) {
  if (asking.value?.busy) return;
  asking.value = { messageId, offer, busy: true };
  // Opened before the answer: a browser opens a tab only right after the person's click.
  const tab = offer.method === "link" ? window.open("", "_blank") : null;
  try {
    const answer = await mutate("mail.unsubscribe", { messageId, method: offer.method });
    if (tab && answer.url) {
      tab.opener = null;
      tab.location.href = answer.url;
    }
    const { outgoingId } = answer;
    if (offer.method !== "link") toast(offer.method === "mailto" ? "A mail asks for it." : "Unsubscribed.", outgoingId
      ? { action: { label: "Undo", run: () => void holdBack(outgoingId) } } : {});
  } catch (error) {
    tab?.close();
    told(error);
  }
  asking.value = null;
  done.value += 1;
}

/** @param {string} outgoingId the mail that asks to unsubscribe */
async function holdBack(outgoingId) {
  await mutate("mail.cancelSend", { id: outgoingId }).catch(told);
  done.value += 1;
}

/** @typedef {MailUnsubscribedOut} Past */

/** @param {Message} message @returns {Past | null} */
function usePast(message) {
  const [past, setPast] = useState(/** @type {Past | null} */ (null));
  const moved = done.value;
  useEffect(() => {
    let left = false;
    if (message.canUnsubscribe) {
      query("mail.unsubscribed", { messageId: message.id })
        .then((found) => left || setPast(found.unsubscribed))
        .catch(() => undefined);
    }
    return () => {
      left = true;
    };
  }, [message.id, message.canUnsubscribe, moved]);
  return past;
}

/** @param {Past} past */
function wordsOf({ outcome, target, at, detail }) {
  const when = fullTime(at);
  if (outcome === "done") return `Unsubscribed at ${target}, ${when}.`;
  if (outcome === "sent") return `A mail to ${target} asked to unsubscribe, ${when}.`;
  if (outcome === "opened") return `You opened the page at ${target} to unsubscribe, ${when}.`;
  return `Could not unsubscribe at ${target}, ${when}: ${detail ?? "it was refused"}.`;
}

/** @param {unknown} error */
function told(error) {
  toast(error instanceof Error ? error.message : String(error), { tone: "error" });
}
