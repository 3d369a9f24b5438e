// @ts-check
/** The form for a picture in the text: its description, its size, and its removal. */
import { useEffect, useRef, useState } from "preact/hooks";
import { useCloseRequest } from "../../ui/close_request.js";
import { html } from "../../ui/html.js";
import { FITTING_PX, SMALL_PX } from "./pictures.js";

/** @typedef {import("./richtext.js").RichText} RichText */

/** @param {{ editor: RichText, picture: HTMLImageElement, done: () => void }} props */
export function PictureForm({ editor, picture, done }) {
  const [words, setWords] = useState(picture.alt);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => input.current?.select(), [picture]);
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    editor.changePicture(picture, (one) => { one.alt = words.trim(); });
    done();
  };
  const size = (/** @type {number} */ width) => () => editor.changePicture(picture, (one) => {
    one.removeAttribute("height");
    if (width) one.setAttribute("width", String(Math.min(width, one.naturalWidth || width)));
    else one.removeAttribute("width");
  });
  const remove = () => {
    editor.changePicture(picture, (one) => one.remove());
    done();
  };
  useCloseRequest(done);
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    done();
  };
  const button = (/** @type {string} */ label, /** @type {() => void} */ run) =>
    html`<button type="button" class="button small" onClick=${run}>${label}</button>`;
  return html`<form class="link-form" aria-label="Picture" onSubmit=${submit} onKeyDown=${onKeyDown}>
    <label class="sr-only" for="picture-words">Description, for those who do not see it</label>
    <input id="picture-words" ref=${input} type="text" maxlength="300"
      placeholder="Description, for those who do not see it" value=${words}
      onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setWords(event.currentTarget.value)} />
    <button class="button small primary">Describe</button>
    ${button("Small", size(SMALL_PX))}${button("Medium", size(FITTING_PX))}${button("Original", size(0))}
    ${button("Remove", remove)}${button("Close", done)}
  </form>`;
}
