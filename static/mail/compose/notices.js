// @ts-check
/**
 * Notices of outgoing mail, above every page: the countdown in which it can be taken back, by the server's clock, and
 * after a restart of the browser the messages that were open. It uses the list of outgoing mail, so that a reload loses
 * nothing.
 */
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { outgoing, sendNow, serverNow } from "../../tasks/outgoing.js";
import { classes, html } from "../../ui/html.js";
import { toast } from "../../ui/toast.js";
import { openLeft } from "./composer.js";
import { composition } from "./current.js";
import { loadDrafts } from "./drafts.js";
import { forget, leftOpen } from "./remembered.js";
import { takeBackSent } from "./sending.js";

const TICK_MS = 250;
const SHOWN = 3;

const left = signal(/** @type {import("./remembered.js").Remembered | null} */ (null));

/** Offers the messages that were open when the browser closed. Called once the signed-in person is known. */
export async function offerLeftOpen() {
  const drafts = await loadDrafts();
  const open = (await leftOpen()).filter((one) => {
    const lives = one.fields !== null || !drafts || drafts.some(({ id }) => id === one.id);
    if (!lives) forget(one.key); // sent or deleted elsewhere
    return lives;
  });
  const [newest, ...others] = open;
  for (const one of others) if (one.fields === null) forget(one.key); // saved: it is listed under Drafts
  left.value = newest ?? null;
}

export function SendingNotices() {
  const going = (outgoing.value ?? []).filter((one) => one.state === "held" || one.state === "transmitting");
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  useLayoutEffect(() => liftOthers(/** @type {HTMLDivElement} */ (element.current)), []);
  return html`<div class="sending-notices" role="status" aria-live="polite" ref=${element}>
    <${LeftOpen} />
    ${going.slice(0, SHOWN).map((one) => html`<${Going} key=${one.id} row=${one} named=${going.length > 1} />`)}
  </div>`;
}

/** Keeps the other notices above these, however many and long they are. @param {HTMLDivElement} element */
function liftOthers(element) {
  const { style } = document.documentElement;
  const observer = new ResizeObserver(() => {
    const height = element.offsetHeight;
    if (height) style.setProperty("--below-toasts", `calc(${height}px + var(--space-2))`);
    else style.removeProperty("--below-toasts");
  });
  observer.observe(element);
  return () => {
    observer.disconnect();
    style.removeProperty("--below-toasts");
  };
}

/** @param {{ row: Outgoing, named: boolean }} props `named`: there are others, so it tells which message it is */
function Going({ row, named }) {
  const seconds = useSecondsUntil(row.state === "held" ? row.sendAt : null);
  const about = row.subject || row.to[0] || "a message";
  const undoes = row.state === "held" && seconds > 0;
  return html`<div class=${classes({ toast: true, sending: true, named })} role="group"
      aria-label=${`Sending: ${about}`}>
    <span aria-hidden="true">${undoes ? `Sending in ${seconds} s` : "Sending…"}</span>
    ${named && html`<span class="sending-about" aria-hidden="true"><bdi>${about}</bdi></span>`}
    <span class="sr-only">${undoes ? `Sending ${about} in a few seconds. Undo or Send now.` : `Sending ${about}.`}
      </span>
    ${undoes && html`<button class="toast-action" onClick=${() => void takeBackSent(row.id)}>Undo</button>
      <button class="toast-action" onClick=${() => void hurry(row.id)}>Send now</button>`}
  </div>`;
}

function LeftOpen() {
  const one = left.value;
  const isOpen = one !== null && one.id !== null && composition.value?.draft.id === one.id;
  useEffect(() => {
    if (isOpen) left.value = null; // it was opened by another way
  }, [isOpen]);
  if (!one || composition.value) return null;
  const answer = (/** @type {boolean} */ go) => {
    left.value = null;
    if (go) void openLeft(one);
    else forget(one.key); // its draft stays under Drafts
  };
  return html`<div class="toast left-open">
    <span>You were writing ${one.subject ? html`“<bdi>${one.subject}</bdi>”` : "a message"}.</span>
    <button class="toast-action" onClick=${() => answer(true)}>Continue</button>
    ${one.fields === null /* else only this browser has it */
      && html`<button class="toast-action" onClick=${() => answer(false)}>Later</button>`}
  </div>`;
}

/** @param {string} id */
async function hurry(id) {
  try {
    await sendNow(id);
  } catch (error) {
    toast(`Could not send it now: ${error instanceof Error ? error.message : error}`, { tone: "error" });
  }
}

/** Whole seconds until the instant by the server's clock, updated while shown. @param {string | null} instant */
function useSecondsUntil(instant) {
  const left = () => (instant === null ? 0 : Math.max(0, Math.ceil((Date.parse(instant) - serverNow()) / 1000)));
  const [, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTick((tick) => tick + 1), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return left();
}
