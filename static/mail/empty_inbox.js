// @ts-check
/** The empty inbox: a calm picture, what the person did today, and the next snoozed thread. */
import { useEffect, useState } from "preact/hooks";
import { now } from "../now.js";
import { query } from "../rpc.js";
import { tasksCount } from "../tasks/count.js";
import { plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { mailPath } from "./address.js";
import { whenWords } from "./compose/when.js";
import { currentAccountId } from "./moving.js";

export function EmptyInbox() {
  const done = useDoneToday();
  const next = useNext();
  const tasks = tasksCount();
  return html`<div class="empty empty-inbox">
    <${Picture} />
    <p class="empty-title">Inbox zero</p>
    <p>Everything here is dealt with. New mail shows up by itself.</p>
    ${done > 0 && html`<p>${plural(done, "step")} with your mail today.</p>`}
    ${(next || tasks) && html`<ul class="empty-next">
      ${next && html`<li><a href=${mailPath(currentAccountId(), null, { kind: "snoozed" })}>Next to come back:${" "}
        <bdi>${next.thread.subject || "(no subject)"}</bdi>, ${whenWords(new Date(next.until), new Date(now.value))}</a>
      </li>`}
      ${tasks && html`<li><a href="/p/tasks">Tasks: ${tasks.words.replace(/^\d+: /, "")}</a></li>`}
    </ul>`}
  </div>`;
}

/** The number of the person's steps today, as far as the server still has them. */
function useDoneToday() {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const today = new Date().toDateString();
    void query("mail.undoable").then((steps) => setCount(steps.filter(({ at }) =>
      new Date(at).toDateString() === today).length)).catch(() => undefined); // not important enough for an error
  }, []);
  return count;
}

/** The snoozed thread that returns first. */
function useNext() {
  const [next, setNext] = useState(/** @type {OutputOf<"mail.snoozed">[number] | null} */ (null));
  useEffect(() => {
    void query("mail.snoozed").then(([first]) => setNext(first ?? null)).catch(() => undefined);
  }, []);
  return next;
}

/** The sea in the evening, our own drawing. */
function Picture() {
  return html`<svg class="empty-picture" viewBox="0 0 240 120" aria-hidden="true">
    <circle class="empty-sun" cx="120" cy="62" r="26" />
    <path class="empty-bird" d="M62 34q6-6 10 0q4-6 10 0M168 22q5-5 8 0q3-5 8 0" />
    <path class="empty-sea far" d="M0 72q20-7 40 0t40 0t40 0t40 0t40 0t40 0v48H0z" />
    <path class="empty-sea near" d="M0 90q15-6 30 0t30 0t30 0t30 0t30 0t30 0t30 0t30 0v30H0z" />
  </svg>`;
}
