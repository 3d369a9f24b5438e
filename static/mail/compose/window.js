// @ts-check
/**
 * The compose window: docked at the bottom of the page; it fills the screen on a small display or on request. Not
 * modal: the page beside it can be read and clicked, only its keys are off.
 */
import { useLayoutEffect } from "preact/hooks";
import { useCloseRequest } from "../../ui/close_request.js";
import { classes, html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { fills } from "../../ui/media.js";
import { typeNow } from "./ahead.js";
import { composition, full, minimised, place, preparing } from "./current.js";
import { Fields } from "./fields.js";
import { fullScreen, popOut } from "./places.js";
import { Contested, Text, useWriting } from "./writing.js";

/** The window, if a message is being written in it; shown beside every page. */
export function ComposeDock() {
  const current = composition.value;
  if (current && place.value === "window") return html`<${Window} key=${current.draft.key} current=${current} />`;
  if (current || !preparing.value) return null;
  return html`<p class="sr-only" role="status">Opening the message</p>`;
}

/** @param {{ current: import("./current.js").Composition }} props */
function Window({ current }) {
  const { draft } = current;
  const small = minimised.value;
  const writing = useWriting(current);
  const { frame, over } = writing;
  useLayoutEffect(() => {
    const first = current.focus === "to" && !current.caret ? "input" : ".rich-text";
    frame.current?.querySelector(/** @type {"input"} */ (first))?.focus();
    typeNow();
  }, []);
  useCloseRequest(writing.close, !small && fills.value);
  // When a focused button disappears (a cancelled upload, a removed quote), the focus stays in the window.
  useLayoutEffect(() => {
    if (document.activeElement === document.body && !small) frame.current?.focus({ preventScroll: true });
  });
  return html`<section
    class=${classes({ compose: true, minimised: small, full: full.value && !small, over })} role="dialog"
      aria-modal="false" aria-labelledby="compose-title" tabindex="-1"
    ref=${frame} onKeyDown=${writing.onKeyDown} ...${writing.listeners}
  >
    <${Head} current=${current} small=${small} close=${writing.close} />
    <div class="compose-body" hidden=${small}>
      <${Contested} writing=${writing} />
      <${Fields} draft=${draft} signatureWanted=${() => { current.unsigned = true; }} />
      <${Text} writing=${writing} />
    </div>
    ${over && html`<div class="compose-drop" aria-hidden="true">Drop the files here to attach them</div>`}
  </section>`;
}

/** @param {{ current: import("./current.js").Composition, small: boolean, close: () => void }} props */
function Head({ current, small, close }) {
  const subject = current.draft.fields.value.subject;
  return html`<div class="compose-head">
    <h2 id="compose-title"><bdi>${(small && subject) || current.title}</bdi></h2>
    <button type="button" class="icon-button" aria-label=${small ? "Open the message again" : "Minimise"}
      title=${small ? "Open again" : "Minimise"} aria-expanded=${small ? "false" : "true"}
      onClick=${() => { minimised.value = !small; }}><${Icon} name=${small ? "up" : "minimise"} /></button>
    ${!small && current.about && html`<button type="button" class="icon-button" aria-label="Write under the message"
      title="Write under the message (Ctrl+Shift+P, ⌘+Shift+P)" onClick=${popOut}>
      <${Icon} name="answer-in" /></button>`}
    ${!small && html`<button type="button" class="icon-button full-button" aria-label="Full screen" title="Full screen"
      aria-pressed=${full.value ? "true" : "false"} onClick=${fullScreen}><${Icon} name="answer-full" /></button>`}
    <button type="button" class="icon-button" aria-label="Close and keep the draft"
      title="Close and keep the draft (Esc)" onClick=${close}><${Icon} name="close" /></button>
  </div>`;
}
