// @ts-check
/**
 * The details behind an account's numbers: changes that are not yet at the provider, and messages that were skipped.
 */
import { useCallback, useEffect, useState } from "preact/hooks";
import { now } from "../../now.js";
import { query } from "../../rpc.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { ago, plural } from "../../ui/format.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { reasonOf } from "../../settings/fetched.js";

/** @type {Record<string, string>} */
const STEPS = { fetch: "could not be read", store: "could not be stored", change: "a change was taken back" };

/** @param {{ accountId: string, count: number }} props */
export function PendingList({ accountId, count }) {
  return html`<${Unfolding} name="mail.pending" accountId=${accountId} count=${count}
    title=${`${plural(count, "change")} not yet at the provider`}
    row=${(/** @type {PendingChange} */ one) => html`<li class="thing"><div class="thing-text">
      <p class="thing-title">${one.subject || "(no subject)"}</p>
      <p class="fine">${changeOf(one)}, made ${ago(one.createdAt, now.value)}
        ${one.attempts > 0 && `; ${plural(one.attempts, "attempt")}`}</p>
      ${one.lastError && html`<p class="fine">${one.lastError}</p>`}
    </div></li>`} />`;
}

/** @type {Record<DamagedPart["part"], string>} */
const PARTS = { body: "its text", raw: "the message as it came", attachment: "an attachment" };

/**
 * The damaged items on this server, and why they are not mended yet.
 * @param {{ accountId: string, count: number }} props
 */
export function DamageList({ accountId, count }) {
  return html`<${Unfolding} name="mail.damage" accountId=${accountId} count=${count}
    title=${`${plural(count, "part")} of messages damaged on this server`}
    row=${(/** @type {DamagedPart} */ one) => html`<li class="thing"><div class="thing-text">
      <p class="thing-title">${one.subject || "(no subject)"}
        <span class="quiet-text">${one.name ?? PARTS[one.part]}</span></p>
      <p class="fine">${one.state === "lost" ? "It can't be mended" : "It will be mended by itself"}
        ${one.reason && `: ${one.reason}`}</p>
      <p class="fine">Found ${ago(one.foundAt, now.value)}${one.attempts > 0 && `; ${plural(one.attempts, "attempt")}`}
        </p>
    </div></li>`} />`;
}

/** @param {{ accountId: string, count: number, retry: (() => Promise<void>) | null }} props */
export function FailureList({ accountId, count, retry }) {
  return html`<${Unfolding} name="mail.failures" accountId=${accountId} count=${count}
    title=${`${plural(count, "message")} passed over`}
    row=${(/** @type {Failure} */ one) => html`<li class="thing"><div class="thing-text">
      <p class="thing-title">${one.messageId} <span class="quiet-text">${STEPS[one.step] ?? one.step}</span></p>
      <p class="fine">${one.reason}</p>
      <p class="fine">${plural(one.attempts, "attempt")}, the last one ${ago(one.lastAt, now.value)}</p>
    </div></li>`}
    foot=${retry && html`<${ConfirmButton} label="Retry" what="messages passed over" run=${retry} />`} />`;
}

/**
 * A list that is fetched when it is unfolded, and again when the number changes.
 * @param {{ name: "mail.pending" | "mail.failures" | "mail.damage", accountId: string, count: number, title: string,
 * row: (one: any) => unknown, foot?: unknown }} props
 */
function Unfolding({ name, accountId, count, title, row, foot }) {
  const [open, setOpen] = useState(false);
  const [rows, setRows] = useState(/** @type {unknown[] | null} */ (null));
  const [problem, setProblem] = useState("");
  const load = useCallback(async () => {
    try {
      setRows(await query(name, { accountId }));
      setProblem("");
    } catch (error) {
      setProblem(reasonOf(error));
    }
  }, [name, accountId]);
  useEffect(() => {
    if (open && count > 0) void load();
  }, [open, count, load]);
  if (count === 0) return null;
  return html`<details class="folded" open=${open}
    onToggle=${(/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open)}>
    <summary><${Icon} name="chevron" size=${14} /> ${title}</summary>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    ${rows && html`<ul class="things">${rows.map(row)}</ul>`}
    ${foot}
  </details>`;
}

/** @param {PendingChange} change */
function changeOf(change) {
  const parts = [
    ...change.add.map((label) => `+ ${label.name}`),
    ...change.remove.map((label) => `\u2212 ${label.name}`),
  ];
  return parts.join(", ");
}
