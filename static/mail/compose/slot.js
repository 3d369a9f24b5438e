// @ts-check
/** The answers under a message of the open thread: the one that is being written, and others as lines. */
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { openDraft } from "./composer.js";
import { composition, inlineIn, place } from "./current.js";
import { drafts } from "./drafts.js";
import { InlineAnswer } from "./inline.js";
import { popOut, standsUnder } from "./places.js";

/**
 * `last`: it also shows answers to the thread that belong to no message.
 * @param {{ threadId: string, messageId: string, last: boolean }} props
 */
export function AnswerSlot({ threadId, messageId, last }) {
  const current = inlineIn(threadId);
  const mine = current && standsUnder(current.about, messageId, last) ? current : null;
  const open = composition.value;
  void open?.draft.state.value; // a draft that was just saved for the first time has an id
  const begun = drafts.value.filter((one) => one.threadId === threadId && one.id !== open?.draft.id
    && standsUnder({ threadId, messageId: one.quote?.messageId ?? null }, messageId, last));
  // The live event of a first save may arrive before the save's answer: it is not another draft.
  const others = open && open.draft.id === null && open.about?.messageId === messageId ? [] : begun;
  const away = open && place.value === "window" && open.about?.threadId === threadId
    && standsUnder(open.about, messageId, last) ? open : null;
  return html`${others.map((one) => html`<${DraftLine} key=${one.id} row=${one} />`)}
    ${away && html`<button type="button" key="away" class="answer-line" onClick=${popOut}>
      <span class="answer-draft">Draft</span> <span class="answer-words">written in the window. Write it here</span>
    </button>`}
    ${mine && html`<${InlineAnswer} key=${mine.draft.key} current=${mine} messageId=${messageId} />`}`;
}

/** @param {{ row: DraftRow }} props */
function DraftLine({ row }) {
  return html`<button type="button" class="answer-line" onClick=${() => void openDraft(row.id)}>
    <${Icon} name=${row.quote?.kind === "forward" ? "forward" : "reply"} size=${16} />
    <span class="answer-draft">Draft</span>
    <span class="answer-words"><bdi>${row.snippet || "no words yet"}</bdi></span>
  </button>`;
}
