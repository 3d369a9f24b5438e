// @ts-check
/** The signature of each account: it is inserted below new mail, above the quoted message. */
import { useEffect, useRef, useState } from "preact/hooks";
import { accounts, isShared } from "../accounts.js";
import { Editor } from "../compose/editor.js";
import { fetchSignature, saveSignature, signatureOf } from "../compose/signature.js";
import { html } from "../../ui/html.js";
import { toast } from "../../ui/toast.js";
import { reasonOf } from "../../settings/fetched.js";

export function SignaturesSection() {
  const known = accounts.value && accounts.value.filter((one) => !isShared(one));
  if (known === null) return html`<p class="quiet-text" role="status">Loading the accounts</p>`;
  if (!known.length) return html`<p class="quiet-text">Connect a mail account first; each has a signature of its own.
    </p>`;
  return html`<p class="fine">A signature stands below what you write, above the message you answer. When you choose
    another account under From, it changes with it.</p>
    ${known.map((account) => html`<${Signature} key=${account.id} account=${account} />`)}`;
}

/** @param {{ account: Account }} props */
function Signature({ account }) {
  const saved = signatureOf(account.id);
  const editor = useRef(/** @type {import("../compose/richtext.js").RichText | null} */ (null));
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState("");
  useEffect(() => void fetchSignature(account.id).catch((error) => setProblem(reasonOf(error))), [account.id]);
  useEffect(() => {
    if (saved.value !== null && editor.current?.html() !== saved.value) editor.current?.reset(saved.value);
  }, [saved.value]);
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (busy || !editor.current) return;
    setBusy(true);
    setProblem("");
    try {
      const text = editor.current.root.textContent?.trim() ? editor.current.html() : "";
      await saveSignature(account.id, text);
      toast("Signature saved.");
    } catch (error) {
      setProblem(reasonOf(error));
    }
    setBusy(false);
  };
  return html`<form class="setting signature" aria-labelledby=${`signature-${account.id}`} onSubmit=${save}>
    <h2 id=${`signature-${account.id}`}>${account.address}</h2>
    ${saved.value === null
      ? !problem && html`<p class="quiet-text" role="status">Loading the signature</p>`
      : html`<${Editor} start=${saved.value} label=${`Signature of ${account.address}`} changed=${() => undefined}
          ready=${(/** @type {import("../compose/richtext.js").RichText | null} */ one) => { editor.current = one;
            }} />`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    <button class="button primary" disabled=${saved.value === null} aria-busy=${busy}
      aria-label=${`Save the signature of ${account.address}`}>Save</button>
  </form>`;
}
