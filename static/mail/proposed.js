// @ts-check
/**
 * A reply that a rule drafted: shown with its recipients; the person approves it unchanged or edited, or dismisses it.
 * What the person wrote stays while other threads are shown, and if the reply is no longer proposed.
 */
import { signal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { mutate } from "../rpc.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";
import { composeAnswer } from "./compose/compose.js";
import { show } from "./details.js";
import { MessageFrame } from "./frame.js";

/** @typedef {NonNullable<ThreadDetail["proposedReply"]>} Reply */

/** The person's own texts, by thread; `id`: of the reply that they changed. */
const edited = signal(/** @type {Record<string, { id: string, text: string }>} */ ({}));

/** @param {string} threadId */
function forget(threadId) {
  const { [threadId]: _, ...others } = edited.value;
  edited.value = others;
}

/** @param {{ reply: Reply | null, threadId: string, acts: boolean }} props */
export function ProposedReply({ reply, threadId, acts }) {
  const own = edited.value[threadId];
  const isCurrent = own !== undefined && own.id === reply?.id;
  return html`${own && !isCurrent && html`<${KeptText} text=${own.text} threadId=${threadId} />`}
    ${reply && html`<${Proposal} key=${reply.id} reply=${reply} text=${isCurrent ? own.text : null}
      threadId=${threadId} acts=${acts} />`}`;
}

/** @param {{ reply: Reply, text: string | null, threadId: string, acts: boolean }} props */
function Proposal({ reply, text, threadId, acts }) {
  const { busy, problem, run } = useAction();
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const begins = useRef(false);
  const editing = text !== null;
  useLayoutEffect(() => {
    if (begins.current) field.current?.focus(); // the button that started it is gone
    begins.current = false;
  }, [editing]);
  const edit = () => {
    begins.current = true;
    write(textOf(reply.html));
  };
  const write = (/** @type {string} */ words) => {
    edited.value = { ...edited.value, [threadId]: { id: reply.id, text: words } };
  };
  const act = (/** @type {() => Promise<unknown>} */ work, /** @type {string} */ said) => run(async () => {
    try {
      await work();
      forget(threadId);
      toast(said);
    } finally {
      await show(threadId); // also where it is no longer proposed
    }
  });
  const approve = () =>
    act(() => mutate("mail.approveReply", { id: reply.id, ...(text === null ? {} : { html: htmlOf(text) }) }),
      "It is being sent. For a moment you can undo that.");
  return html`<section class="card proposed" aria-label="Proposed reply">
    <header class="card-head"><span class="card-from">Proposed reply, not sent</span></header>
    <p class="proposed-to"><span>To <bdi>${reply.to.join(", ")}</bdi>${reply.cc.length > 0 && html`, copy to
      <bdi>${reply.cc.join(", ")}</bdi>`}: <bdi>${reply.subject}</bdi></span></p>
    <div class="card-body">${text === null
      ? html`<${MessageFrame} body=${reply.html} title="Proposed reply" />`
      : html`<textarea class="proposed-text" ref=${field} aria-label="The reply" rows="8" value=${text}
          onInput=${(/** @type {Event} */ event) =>
            write(/** @type {HTMLTextAreaElement} */ (event.target).value)}></textarea>`}</div>
    ${acts && html`<p class="proposed-acts">
      <button class="button primary" aria-busy=${busy} disabled=${text?.trim() === ""} onClick=${approve}>Approve and
        send</button>
      ${editing ? html`<button class="button" onClick=${() => forget(threadId)}>Leave it as it was</button>`
        : html`<button class="button" onClick=${edit}>Edit</button>`}
      <button class="button" onClick=${() => act(() => mutate("mail.dismissReply", { id: reply.id }),
        "The proposed reply is dismissed.")}>Dismiss</button></p>`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </section>`;
}

/** What the person wrote into a reply that is no longer proposed. @param {{ text: string, threadId: string }} props */
function KeptText({ text, threadId }) {
  const use = () => composeAnswer("reply", threadId, undefined,
    { words: htmlOf(text), onOpened: () => forget(threadId) });
  return html`<section class="card proposed" aria-label="Your text">
    <header class="card-head"><span class="card-from">Your text, not sent</span></header>
    <p class="proposed-to" role="status">The reply that you changed is no longer proposed: newer mail came, or it was
      answered or dismissed elsewhere.</p>
    <div class="card-body"><p class="card-text"><bdi>${text}</bdi></p></div>
    <p class="proposed-acts">
      <button class="button primary" onClick=${use}>Write a reply with it</button>
      <button class="button" onClick=${() => forget(threadId)}>Discard it</button></p>
  </section>`;
}

/** Its paragraphs as plain text. @param {string} markup */
function textOf(markup) {
  const parsed = new DOMParser().parseFromString(markup, "text/html");
  for (const line of parsed.querySelectorAll("br")) line.replaceWith("\n");
  return [...parsed.querySelectorAll("p")].map((one) => one.textContent ?? "").join("\n\n");
}

/** The typed text as paragraphs of HTML; its characters are escaped. @param {string} text */
function htmlOf(text) {
  const escaped = (/** @type {string} */ part) =>
    part.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\n", "<br>");
  return text.trim().split(/\n{2,}/).map((part) => `<p>${escaped(part)}</p>`).join("");
}
