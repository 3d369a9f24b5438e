// @ts-check
/** Asks for the address of a link, below the text. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useCloseRequest } from "../../ui/close_request.js";
import { html } from "../../ui/html.js";
import { safeAddress } from "./link_address.js";

/** @param {{ editor: import("./richtext.js").RichText | null, done: () => void }} props */
export function LinkForm({ editor, done }) {
  const [address, setAddress] = useState(() => editor?.linkHere() ?? "");
  const [problem, setProblem] = useState("");
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const had = address !== "" && editor?.linkHere() !== "";
  useEffect(() => input.current?.select(), []);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const safe = safeAddress(address);
    if (safe === null) {
      setProblem("That is no address of a page or a mailbox.");
      return;
    }
    done();
    editor?.link(safe);
  };
  const remove = () => {
    done();
    editor?.unlink();
  };
  useCloseRequest(done);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    done();
  };
  return html`<form class="link-form" onSubmit=${submit} onKeyDown=${onKeyDown}>
    <label class="sr-only" for="link-address">Address of the link</label>
    <input id="link-address" ref=${input} type="text" inputmode="url" autocapitalize="none" spellcheck=${false}
      placeholder="https://…" value=${address}
      aria-describedby=${problem ? "link-problem" : undefined}
      onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setAddress(event.currentTarget.value)} />
    <button class="button small primary">Set link</button>
    ${had && html`<button type="button" class="button small" onClick=${remove}>Remove link</button>`}
    <button type="button" class="button small" onClick=${done}>Cancel</button>
    ${problem && html`<p class="form-problem" id="link-problem" role="alert">${problem}</p>`}
  </form>`;
}
