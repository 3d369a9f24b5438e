// @ts-check
/**
 * Pairs a device: the user chooses what it may do, then sees a code, as text and as a QR code, until it is used or its
 * five minutes are over.
 *
 * No live event reports that a code was used, so while one is shown the list of devices is loaded every few seconds.
 */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { mutate } from "../../rpc.js";
import { isAdmin, me } from "../../session.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { QrCode } from "../../ui/qr.js";
import { toast } from "../../ui/toast.js";
import { CAPABILITIES } from "./capabilities.js";
import { countdown } from "../../settings/dates.js";
import { reasonOf } from "../../settings/fetched.js";

const LIFETIME_MS = 5 * 60_000;
const TICK_MS = 500;
const LOOK_EVERY_MS = 2_000;

/** @typedef {{ code: string, expiresAt: string }} Code */

/** @param {{ known: Device[] | null, refresh: () => Promise<void> }} props */
export function Pairing({ known, refresh }) {
  const [open, setOpen] = useState(false);
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
  }, [open]);
  const close = () => {
    setOpen(false);
    dialog.current?.close();
    void refresh();
  };
  return html`<div>
    <button class="button primary" disabled=${known === null} onClick=${() => setOpen(true)}>
      <${Icon} name="plus" /> Pair a device</button>
    <dialog class="pair-dialog" ref=${dialog} aria-labelledby="pair-title" onClose=${close}>
      ${open && html`<div class="pair">
        <header class="dialog-head">
          <h2 id="pair-title">Pair a device</h2>
          <button class="icon-button" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
        </header>
        <${Steps} known=${known ?? []} refresh=${refresh} close=${close} />
      </div>`}
    </dialog>
  </div>`;
}

/** @param {{ known: Device[], refresh: () => Promise<void>, close: () => void }} props */
function Steps({ known, refresh, close }) {
  const [wanted, setWanted] = useState(/** @type {Device["capabilities"]} */ ({}));
  const [code, setCode] = useState(/** @type {Code | null} */ (null));
  const [problem, setProblem] = useState("");
  const before = useRef(new Set(known.map((one) => one.id)));
  const mine = me.value?.user?.id ?? null;
  const paired = code && known.find((one) => !before.current.has(one.id) && one.userId === mine
    && one.kind !== "web-session");
  useEffect(() => {
    if (!paired) return;
    toast(`${paired.name || "The device"} is paired.`);
    close();
  }, [paired]);
  const ask = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setProblem("");
    try {
      setCode(await mutate("devices.createPairingCode", { capabilities: wanted }));
    } catch (error) {
      setCode(null);
      setProblem(reasonOf(error));
    }
  };
  if (code) return html`<${Shown} key=${code.code} code=${code} refresh=${refresh} again=${ask} />`;
  return html`<form class="pair-form" onSubmit=${ask}>
    <${Choices} wanted=${wanted} choose=${setWanted} />
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    <button class="button primary" type="submit">Show the code</button>
  </form>`;
}

/** @param {{ wanted: Device["capabilities"], choose: (wanted: Device["capabilities"]) => void }} props */
function Choices({ wanted, choose }) {
  return html`<fieldset class="choices">
    <legend>Beyond reading and writing what you can, it may</legend>
    ${CAPABILITIES.filter((one) => !one.adminOnly || isAdmin()).map(
      ({ flag, title, note }) => html`<label key=${flag} class="choice">
        <input type="checkbox" checked=${wanted[flag] ?? false} aria-label=${title} aria-describedby=${`may-${flag}`}
          onChange=${(/** @type {Event} */ event) =>
            choose({ ...wanted, [flag]: /** @type {HTMLInputElement} */ (event.target).checked })} />
        <span><span class="choice-title">${title}</span><span class="fine" id=${`may-${flag}`}>${note}</span></span>
      </label>`,
    )}
  </fieldset>`;
}

/** @param {{ code: Code, refresh: () => Promise<void>, again: (event: Event) => void }} props */
function Shown({ code, refresh, again }) {
  const left = useTimeLeft(code.expiresAt);
  const over = left <= 0;
  const first = useRef(/** @type {HTMLElement | null} */ (null));
  useLayoutEffect(() => first.current?.focus(), [over]); // the button that was pressed is gone
  useEffect(() => {
    if (over) return undefined;
    const timer = setInterval(() => void refresh(), LOOK_EVERY_MS);
    return () => clearInterval(timer);
  }, [over]);
  if (over) {
    return html`<div class="pair-code">
      <p role="alert">The code has ended. It was good for five minutes.</p>
      <button class="button primary" ref=${first} onClick=${again}>Show a new code</button>
    </div>`;
  }
  return html`<div class="pair-code">
    <p class="fine">Type this code on the device, or let it scan the picture. It works once.</p>
    <p class="code" role="status" tabindex="-1" ref=${first}
      aria-label=${`The code is ${[...code.code].join(" ")}`}>${code.code}</p>
    <p class="quiet-text" role="timer">Good for <b class="code-left">${countdown(left)}</b></p>
    <${QrCode} text=${code.code} label=${`The code ${code.code} as a QR code`} />
    <p class="fine waiting"><span class="sync-dot busy"></span> Waiting for the device</p>
  </div>`;
}

/** If this machine's clock and the server's differ, the full time counts from now. @param {string} expiresAt */
function useTimeLeft(expiresAt) {
  const [end] = useState(() => {
    const told = Date.parse(expiresAt) - Date.now();
    return Date.now() + (told > 0 && told <= LIFETIME_MS ? told : LIFETIME_MS);
  });
  const [left, setLeft] = useState(() => end - Date.now());
  useEffect(() => {
    const timer = setInterval(() => setLeft(end - Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [end]);
  return left;
}
