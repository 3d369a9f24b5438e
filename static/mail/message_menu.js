// @ts-check
/** What else can be done with one message of a thread: a menu at its head. */
import { useEffect, useRef } from "preact/hooks";
import { mutate } from "../rpc.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { composeAnswer } from "./compose/compose.js";
import { back } from "./moving.js";
import { askUnsubscribe } from "./unsubscribe.js";

const GAP_PX = 4;
const EDGE_PX = 8;

/** @param {{ message: Message, threadId: string, acts: boolean }} props `acts`: whether the person may change it */
export function MessageMenu({ message, threadId, acts }) {
  const menu = useRef(/** @type {HTMLDivElement | null} */ (null));
  const opener = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => {
    const mine = menu.current;
    const place = () => mine && opener.current && placeBelow(mine, opener.current);
    mine?.addEventListener("toggle", place);
    return () => mine?.removeEventListener("toggle", place);
  }, []);
  const id = `message-menu-${message.id}`;
  const source = `/mail/messages/${encodeURIComponent(message.id)}`;
  const isSent = !message.labels.some((one) => one.id === "DRAFT");
  return html`<button class="icon-button card-more" ref=${opener} popovertarget=${id} aria-haspopup="true"
      aria-label="More for this message" title="More"><${Icon} name="answer-more" size=${20} /></button>
    <div id=${id} class="card-menu" popover="auto" ref=${menu} role="group" aria-label="This message"
      onClick=${() => menu.current?.hidePopover()} onKeyDown=${onKeyDown}>
      ${acts && isSent && html`
        <${Item} icon="reply" words="Reply" act=${() => composeAnswer("reply", threadId, message.id)} />
        <${Item} icon="replyAll" words="Reply to all" act=${() => composeAnswer("replyAll", threadId, message.id)} />
        <${Item} icon="forward" words="Forward" act=${() => composeAnswer("forward", threadId, message.id)} />
        <${Item} icon="unread" words="Mark unread from here" act=${() => unreadFrom(message.id)} />
        <hr />`}
      ${message.from.address && html`<${Item} icon="copy" words="Copy address"
        act=${() => copy(message.from.address)} />`}
      ${acts && message.canUnsubscribe && html`<${Item} icon="mute" words="Unsubscribe"
        act=${() => askUnsubscribe(message.id)} />`}
      <a href=${`${source}/source`} target="_blank" rel="noopener"><${Icon} name="page" size=${16} /> Show original</a>
      <a href=${`${source}/eml`} download><${Icon} name="download" size=${16} /> Download (.eml)</a>
    </div>`;
}

/** @param {{ icon: string, words: string, act: () => unknown }} props */
function Item({ icon, words, act }) {
  return html`<button type="button" onClick=${() => void act()}><${Icon} name=${icon} size=${16} /> ${words}</button>`;
}

/** Back to the list with that: it would be read at once again. @param {string} messageId */
async function unreadFrom(messageId) {
  try {
    const told = mutate("mail.markUnreadFrom", { messageId });
    back();
    await told;
  } catch (problem) {
    toast(`Could not mark as unread: ${problem instanceof Error ? problem.message : problem}`, { tone: "error" });
  }
}

/** @param {string} address */
async function copy(address) {
  try {
    await navigator.clipboard.writeText(address);
    toast(`Copied ${address}`);
  } catch {
    toast("This browser does not let the app copy. Mark the address by hand.", { tone: "error" });
  }
}

/** Under its button, or above it where there is no room. @param {HTMLElement} menu @param {HTMLElement} opener */
function placeBelow(menu, opener) {
  const { top, bottom, right } = opener.getBoundingClientRect();
  const { offsetHeight, offsetWidth } = menu;
  const fits = bottom + GAP_PX + offsetHeight + EDGE_PX <= innerHeight;
  menu.style.top = `${Math.max(EDGE_PX, fits ? bottom + GAP_PX : top - GAP_PX - offsetHeight)}px`;
  menu.style.left = `${Math.max(EDGE_PX, right - offsetWidth)}px`;
}

/** Arrow keys walk the entries. @param {KeyboardEvent} event */
function onKeyDown(event) {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (!step || !(event.currentTarget instanceof Element)) return;
  event.preventDefault();
  const entries = [...event.currentTarget.querySelectorAll("a, button")];
  const at = entries.indexOf(/** @type {Element} */ (document.activeElement));
  const next = entries[(at + step + entries.length) % entries.length];
  if (next instanceof HTMLElement) next.focus();
}
