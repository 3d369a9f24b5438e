// @ts-check
/** The rights of a server's program on this machine, and the credentials that it gets. */
import { useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { isAdmin } from "../session.js";
import { reasonOf } from "../settings/fetched.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";

/** The rights of a program on the server. @param {{ folders: readonly string[], confined: boolean }} props */
export function Rights({ folders, confined }) {
  if (!confined) {
    return html`<p class="form-problem" role="status">This system can’t confine programs (it has no Landlock):
      it may read and write all that svc itself may.</p>`;
  }
  return html`<p class="fine">It may reach the network, read the programs of the system, and use what its
    arguments name${folders.length === 0 ? "." : `; it may also ${folders.join(", ")}.`} What svc keeps is closed to
    it.</p>`;
}

/** The form for a missing credential. @param {{ name: string, load: () => Promise<void> }} props */
export function Key({ name, load }) {
  const [value, setValue] = useState("");
  const [problem, setProblem] = useState("");
  if (!isAdmin()) return html`<p class="form-problem" role="status">${name} is not set: an admin can set it.</p>`;
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      await mutate("capabilities.set", { name, value });
      toast(`${name} is kept.`);
      await load();
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  return html`<form class="mcp-form" onSubmit=${save}>
    <label class="field"><span>The credential ${name}, which is not set</span>
      <input type="password" autocomplete="off" value=${value} onInput=${(/** @type {Event} */ event) =>
        setValue(/** @type {HTMLInputElement} */ (event.target).value)} /></label>
    <button type="submit" class="button">Keep it</button>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </form>`;
}
