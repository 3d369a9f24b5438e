// @ts-check
/** The menu of one message of a thread: its other actions. */
import { mutate } from "../rpc.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { MenuButton, MenuItem } from "../ui/menu.js";
import { toast } from "../ui/toast.js";
import { askToBlock, mayBlock } from "./blocking.js";
import { composeAnswer } from "./compose/compose.js";
import { back } from "./moving.js";
import { askUnsubscribe } from "./unsubscribe.js";

/**
 * @param {{ message: Message, threadId: string, acts: boolean, asText: boolean,
 *   setAsText: ((on: boolean) => void) | null, print: () => void }} props
 *   `acts`: whether the person may change it; `asText`: whether it is shown as plain text, if it has any
 */
export function MessageMenu({ message, threadId, acts, asText, setAsText, print }) {
  const source = `/mail/messages/${encodeURIComponent(message.id)}`;
  const isSent = !message.labels.some((one) => one.id === "DRAFT");
  const answer = (/** @type {AnswerKind} */ kind) => () => composeAnswer(kind, threadId, message.id);
  return html`<${MenuButton} id=${`message-menu-${message.id}`} class="icon-button card-more" icon="answer-more"
      size=${20} label="More for this message" title="More" about="This message">
      ${acts && isSent && html`
        <${MenuItem} icon="reply" words="Reply" act=${answer("reply")} />
        <${MenuItem} icon="replyAll" words="Reply to all" act=${answer("replyAll")} />
        <${MenuItem} icon="forward" words="Forward" act=${answer("forward")} />
        <${MenuItem} icon="unread" words="Mark unread from here" act=${() => unreadFrom(message.id)} />
        <hr />`}
      ${message.from.address && html`<${MenuItem} icon="copy" words="Copy address"
        act=${() => copy(message.from.address)} />`}
      ${acts && message.canUnsubscribe && html`<${MenuItem} icon="mute" words="Unsubscribe"
        act=${() => askUnsubscribe(message.id)} />`}
      ${mayBlock(message) && html`<${MenuItem} icon="blocked-sender" words="Block sender"
        act=${() => askToBlock(message)} />`}
      ${setAsText && html`<${MenuItem} icon="page" words=${asText ? "As sent" : "As plain text"}
        act=${() => setAsText(!asText)} />`}
      <${MenuItem} icon="print" words="Print" act=${print} />
      <a href=${`${source}/source`} target="_blank" rel="noopener"><${Icon} name="page" size=${16} /> Show original</a>
      <a href=${`${source}/eml`} download><${Icon} name="download" size=${16} /> Download (.eml)</a>
    <//>`;
}

/**
 * Marks as unread from this message on and goes back to the list: an open message would be marked as read at once.
 * @param {string} messageId
 */
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
