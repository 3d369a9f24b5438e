// @ts-check
/**
 * A reply that a rule drafted: shown with its recipients; the person approves it unchanged or edited, or dismisses it.
 */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { useDeed } from "../ui/deed.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";
import { show } from "./details.js";
import { MessageFrame } from "./frame.js";

/** @typedef {NonNullable<ThreadDetail["proposedReply"]>} Reply */

/** @param {{ reply: Reply, threadId: string, acts: boolean }} props */
export function ProposedReply({ reply, threadId, acts }) {
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const { busy, problem, run } = useDeed();
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const editing = text !== null;
  useLayoutEffect(() => field.current?.focus(), [editing]); // the button that started it is gone
  const act = (/** @type {() => Promise<unknown>} */ work, /** @type {string} */ said) => run(async () => {
    await work();
    toast(said);
    await show(threadId);
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
            setText(/** @type {HTMLTextAreaElement} */ (event.target).value)}></textarea>`}</div>
    ${acts && html`<p class="proposed-acts">
      <button class="button primary" aria-busy=${busy} disabled=${text?.trim() === ""} onClick=${approve}>Approve and
        send</button>
      ${editing ? html`<button class="button" onClick=${() => setText(null)}>Leave it as it was</button>`
        : html`<button class="button" onClick=${() => setText(textOf(reply.html))}>Edit</button>`}
      <button class="button" onClick=${() => act(() => mutate("mail.dismissReply", { id: reply.id }),
        "The proposed reply is dismissed.")}>Dismiss</button></p>`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
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
