// @ts-check
/**
 * The recovery code: why it is needed, its creation, which shows it once, and a check by typing it from the written
 * copy.
 */
import { useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { reasonOf } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { fullTime } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

/** @typedef {OutputOf<"backup.status">["recoveryCode"]} Known */

/** @param {{ known: Known, fingerprint: string | null, load: () => Promise<void> }} props */
export function RecoveryCode({ known, fingerprint, load }) {
  const [code, setCode] = useState("");
  const make = async () => {
    setCode((await mutate("backup.recoveryCode")).code);
    await load();
  };
  const safe = known?.confirmed ?? false;
  return html`<section class="setting" aria-labelledby="code-title">
    <h2 id="code-title">Recovery code</h2>
    ${!safe && !code && html`<div class="notice bad" role="status"><${Icon} name="warning" /><div>
      <p>${known ? "A recovery code was made, and nobody has said that it is written down."
        : "There is no recovery code yet."}</p>
      <p>The passwords of your accounts are locked by a key that lies on this machine alone. If the machine is lost, the
        archive brings back your mail and pages, but every account has to be connected again. With the code, written on
        paper and kept elsewhere, it brings back everything.</p></div></div>`}
    ${safe && !code && known && html`<p>It was made ${fullTime(known.at)}, and is written down.</p>`}
    ${code && html`<p>Write it down. It is shown this once:</p>
      <p class="backup-code"><output>${code}</output></p>
      <p class="fine">Write down the key of the archive, too, which tells your archive from a forged one:${" "}
        <code>${fingerprint}</code></p>`}
    ${(code || (known && !safe)) && html`<${Retype} done=${async () => {
      setCode("");
      await load();
    }} />`}
    ${!code && html`<${ConfirmButton} label=${known ? "Make another code" : "Make a recovery code"}
      question=${known ? "The code that you have will not work any more." : ""} run=${make} />`}
  </section>`;
}

/** @param {{ done: () => Promise<void> }} props */
function Retype({ done }) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const confirm = async (/** @type {Event} */ event) => {
    event.preventDefault();
    setProblem("");
    try {
      await mutate("backup.confirmRecoveryCode", { code: text });
      await done();
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  return html`<form class="backup-retype" onSubmit=${confirm}>
    <label class="field"><span>Type it again from your paper</span>
      <input autocomplete="off" spellcheck=${false} required value=${text}
        onInput=${(/** @type {InputEvent & { currentTarget: HTMLInputElement }} */ event) =>
          setText(event.currentTarget.value)} /></label>
    <button class="button">It is written down</button>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </form>`;
}
