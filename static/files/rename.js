// @ts-check
/** The dialog that renames a file. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { Modal } from "../ui/modal.js";
import { renaming } from "./actions.js";

const MAX_CHARS = 255;

export function RenameDialog() {
  return renaming.value ? html`<${Dialog} key=${renaming.value.id} file=${renaming.value} />` : null;
}

/** @param {{ file: import("./reading.js").Listed }} props */
function Dialog({ file }) {
  const [name, setName] = useState(file.name);
  const { busy, problem, run } = useAction();
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const close = () => {
    renaming.value = null;
  };
  useLayoutEffect(() => {
    const end = file.name.lastIndexOf(".");
    field.current?.focus();
    field.current?.setSelectionRange(0, end > 0 ? end : file.name.length); // select the name without its extension
  }, []);
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (!name.trim()) return;
    void run(async () => {
      if (name !== file.name) await mutate("files.rename", { id: file.id, name });
      close();
    });
  };
  return html`<${Modal} label="Rename" class="file-rename" close=${close}>
    <form onSubmit=${save}>
      <h2>Rename</h2>
      <label class="field"><span>Name</span>
        <input ref=${field} value=${name} maxlength=${MAX_CHARS} autocomplete="off" spellcheck=${false}
          onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setName(event.currentTarget.value)} />
      </label>
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
      <p class="file-rename-foot">
        <button type="button" class="button" onClick=${close}>Cancel</button>
        <button class="button primary" aria-busy=${busy} disabled=${!name.trim()}>Rename</button>
      </p>
    </form>
  <//>`;
}
