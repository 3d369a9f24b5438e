// @ts-check
/** One outgoing message: recipients, subject, time, state, and its actions. */
import { useState } from "preact/hooks";
import { accountOf, accounts } from "../mail/accounts.js";
import { shortName } from "../mail/compose/bar.js";
import { bringBack, rewrite } from "../mail/compose/composer.js";
import { LaterPanel } from "../mail/compose/later.js";
import { ConfirmButton } from "../ui/confirm.js";
import { fullTime, plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { dismiss, reschedule, retry, sendNow, serverNow, takeBack } from "./outgoing.js";
import { wordsFor } from "./words.js";

const NAMES_SHOWN = 3;

/** @param {{ row: Outgoing }} props */
export function TaskRow({ row }) {
  const { title, text, tone } = wordsFor(row, serverNow());
  const about = row.subject || "(no subject)";
  return html`<li class=${`thing task ${tone}`} data-outgoing=${row.id} data-task tabindex="-1">
    <div class="thing-text">
      <p class="thing-title"><bdi>${about}</bdi> ${row.hasAttachments
        && html`<span class="sr-only">with attachments</span><${Icon} name="clip" size=${14} />`} <span
          class=${`badge ${tone}`}>${title}</span></p>
      <p class="fine">To <bdi title=${[...row.to, ...row.cc, ...row.bcc].slice(0, 50).join(", ")}>${recipients(row)}
        </bdi>${from(row)}</p>
      <p class="fine"><span title=${row.sendAt ? fullTime(row.sendAt) : ""}>${text}</span></p>
    </div>
    <${Actions} row=${row} about=${about} />
  </li>`;
}

/** @param {{ row: Outgoing, about: string }} props */
function Actions({ row, about }) {
  const id = row.id;
  const { state } = row;
  const waits = state === "scheduled" || state === "held" || state === "overdue";
  const edit = html`<button class="button small" data-action="open" aria-label=${`Edit: ${about}`}
    onClick=${() => void bringBack(id)}>Edit</button>`;
  if (waits) {
    return html`<div class="task-actions">
      ${edit}
      <${ConfirmButton} label="Send now" action="send" what=${about}
        run=${() => (state === "overdue" ? retry(id) : sendNow(id))} />
      <${Reschedule} row=${row} about=${about} />
      <${ConfirmButton} label="Cancel" action="away" what=${about} question="It becomes a draft again."
        sure="Don’t send it" run=${() => cancel(id)} />
    </div>`;
  }
  if (state !== "failed" && state !== "uncertain") return null;
  const doubtful = state === "uncertain";
  return html`<div class="task-actions">
    <${ConfirmButton} label=${doubtful ? "Send again" : "Try again"} action="send" what=${about}
      sure="Send it again" question=${doubtful ? "If the first one did arrive, it is there twice." : undefined}
      run=${() => retry(id)} />
    <${ConfirmButton} label="Edit" action="open" what=${about} sure="Edit it" calm
      question=${doubtful ? "If the first one did arrive, this is a second one." : undefined}
        run=${() => rewrite(id)} />
    <${ConfirmButton} label="Put away" action="away" what=${about} question="It leaves this list, and is not sent."
      sure="Put it away" run=${async () => void (await dismiss(id, false))} />
  </div>`;
}

/** @param {{ row: Outgoing, about: string }} props */
function Reschedule({ row, about }) {
  const [open, setOpen] = useState(false);
  const choose = async (/** @type {string} */ sendAt) => {
    setOpen(false);
    try {
      await reschedule(row.id, sendAt);
    } catch (error) {
      toast(`Could not move it: ${error instanceof Error ? error.message : error}`, { tone: "error" });
    }
  };
  return html`<span class="reschedule">
    <button class="button small" data-action="later" aria-label=${`Another time: ${about}`}
      aria-haspopup="dialog" aria-expanded=${open ? "true" : "false"} onClick=${() => setOpen(!open)}>Another time
    </button>
    ${open && html`<${LaterPanel} title="Send later" choose=${choose} close=${() => setOpen(false)} />`}
  </span>`;
}

/** @param {string} id */
async function cancel(id) {
  await takeBack(id);
  toast("It is among your drafts.");
}

/** @param {Outgoing} row */
function recipients({ to, cc, bcc }) {
  const all = [...to, ...cc, ...bcc];
  const more = all.length - NAMES_SHOWN;
  return `${all.slice(0, NAMES_SHOWN).map(shortName).join(", ")}${more > 0 ? ` and ${plural(more, "other")}` : ""}`;
}

/** @param {Outgoing} row */
function from({ accountId }) {
  const account = accountOf(accountId);
  return account && (accounts.value?.length ?? 0) > 1 ? ` · from ${account.address}` : "";
}
