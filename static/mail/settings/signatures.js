// @ts-check
/** The signature of each account: it is inserted below new mail, above the quoted message. */
import { useEffect, useRef, useState } from "preact/hooks";
import { accounts, isShared } from "../accounts.js";
import { Editor } from "../compose/editor.js";
import { fetchSignature, saveSignature, signatureOf } from "../compose/signature.js";
import { useAction } from "../../ui/action.js";
import { html } from "../../ui/html.js";
import { toast } from "../../ui/toast.js";
import { reasonOf } from "../../settings/fetched.js";
import { UnsavedTexts } from "../../unsaved.js";
import { WrittenBefore, useHalfWritten } from "./half_written.js";

/** By the id of the account. @type {UnsavedTexts<{ html: string }>} */
const unsaved = new UnsavedTexts("signature");

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
  const [loaded, setLoaded] = useState(false);
  const saving = useAction();
  const [unread, setUnread] = useState(""); // why the stored one could not be fetched
  const problem = saving.problem || unread;
  const [begun, setBegun] = useHalfWritten(unsaved, account.id);
  useEffect(() => void fetchSignature(account.id).catch((error) => setUnread(reasonOf(error))), [account.id]);
  useEffect(() => {
    if (saved.value === null || unsaved.of(account.id)) return;
    if (editor.current?.html() !== saved.value) editor.current?.reset(saved.value);
  }, [saved.value]);
  const keep = (/** @type {string} */ now) => {
    if (now === saved.value) unsaved.drop(account.id);
    else unsaved.keep(account.id, { html: now });
  };
  const discard = () => {
    unsaved.drop(account.id);
    setBegun(null);
    editor.current?.reset(saved.value ?? "");
  };
  const save = async () => {
    if (!editor.current) return;
    const written = editor.current.html();
    await saveSignature(account.id, editor.current.root.textContent?.trim() ? written : "");
    const typed = unsaved.of(account.id)?.html; // perhaps meanwhile
    if (typed === undefined || typed === written) unsaved.drop(account.id);
    setBegun(null);
    setUnread("");
    toast("Signature saved.");
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    void saving.run(save);
  };
  return html`<form class="setting signature" aria-labelledby=${`signature-${account.id}`} onSubmit=${submit}>
    <h2 id=${`signature-${account.id}`}>${account.address}</h2>
    ${saved.value === null || begun === undefined
      ? !problem && html`<p class="quiet-text" role="status">Loading the signature</p>`
      : html`<${Editor} start=${begun?.html ?? saved.value} label=${`Signature of ${account.address}`}
          changed=${keep}
          ready=${(/** @type {import("../compose/richtext.js").RichText | null} */ one) => {
            editor.current = one;
            setLoaded(one !== null);
          }} />`}
    ${begun && html`<${WrittenBefore} />`}
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    <p class="page-actions"><button class="button primary" disabled=${!loaded} aria-busy=${saving.busy}
        aria-label=${`Save the signature of ${account.address}`}>Save</button>
      ${begun && html`<button type="button" class="button" disabled=${!loaded} onClick=${discard}>Discard</button>`}</p>
  </form>`;
}
