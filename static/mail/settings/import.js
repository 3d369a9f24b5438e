// @ts-check
/**
 * Import and export: imports a mailbox file into an account that exists only here, and exports any account to a file.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { useDrop } from "../../files/drop.js";
import { UploadList, useUploads } from "../../files/uploads.js";
import { mutate } from "../../rpc.js";
import { Pending, reasonOf, useFetched } from "../../settings/fetched.js";
import { ConfirmButton } from "../../ui/confirm.js";
import { number, plural } from "../../ui/format.js";
import { html } from "../../ui/html.js";
import { Icon } from "../../ui/icons.js";
import { toast } from "../../ui/toast.js";
import { accounts, loadAccounts } from "../accounts.js";

/** @typedef {OutputOf<"mail.imports">[number]} Import */

const LOOK_AGAIN_MS = 1_000;
const LOOKS_FOR_A_RETRY = 10;
const WAITS = {
  turn: "Waits until the import before it is done",
  room: "Waits for room: the disk of this server is full. It goes on by itself once there is room",
};
const DEFAULT_NAME = "Imported";

export function ImportSection() {
  const imports = useFetched("mail.imports");
  const { data, load } = imports;
  const isWorking = data?.some((one) => one.state === "working");
  useEffect(() => {
    if (!isWorking) return undefined;
    const timer = setTimeout(() => void load(), LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [data, isWorking, load]);
  return html`
    <${ImportForm} begun=${load} />
    <${Pending} of=${imports} what="the imports" />
    ${data && data.length > 0 && html`<section class="setting" aria-labelledby="imports-title">
      <h2 id="imports-title">Imports</h2>
      <ul class="imports">${data.map((one) => html`<${ImportRow} key=${one.runId} one=${one} changed=${load} />`)}</ul>
    </section>`}
    <${ExportList} />`;
}

/** @param {{ begun: () => Promise<void> }} props */
function ImportForm({ begun }) {
  const [name, setName] = useState(DEFAULT_NAME);
  const [problem, setProblem] = useState("");
  const picker = useRef(/** @type {HTMLInputElement | null} */ (null));
  const { uploads, send, cancel } = useUploads(async (file) => {
    setProblem("");
    try {
      const { accountId } = await mutate("mail.createLocal", { name: name.trim() || DEFAULT_NAME });
      await mutate("mail.import", { accountId, fileId: file.id, removeFile: true });
      await Promise.all([begun(), loadAccounts()]);
    } catch (error) {
      setProblem(`${file.name}: ${reasonOf(error)}`);
    }
  });
  const { over, listeners } = useDrop((files) => send(files), async (folders) => {
    const found = await Promise.all(folders.map(mailboxIn));
    send(found.filter((file) => file !== null));
    if (found.includes(null)) {
      toast("A folder is not uploaded: pack it as .zip or .tgz, and drop that.", { tone: "error" });
    }
  });
  const kept = (accounts.value ?? []).filter((one) => one.signIn === null);
  return html`<section class="setting" aria-labelledby="import-title">
    <h2 id="import-title">Import mail</h2>
    <p class="fine">An mbox, Google’s Takeout archive, a Maildir or Apple Mail’s folder as .zip or .tgz, or single mails
      (.eml). What is here already stays as it is, and nothing imported is announced.</p>
    <div class="field">
      <label for="import-name">Into the account</label>
      <input id="import-name" type="text" maxlength="100" value=${name} list="import-names"
        onInput=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => setName(event.currentTarget.value)} />
      <datalist id="import-names">${kept.map((one) => html`<option key=${one.id} value=${one.address} />`)}</datalist>
    </div>
    ${name.includes("@")
      ? html`<div class="notice" role="status"><${Icon} name="warning" /><div>
          <p>An account with an address shows what its provider has, so mail that is only here can’t be put into it. In
            an account of its own it is in the same inbox, and the same search finds it.</p>
          <button type="button" class="button small" onClick=${() => setName(DEFAULT_NAME)}>
            ${`Import into “${DEFAULT_NAME}”`}</button>
        </div></div>`
      : html`<p class="fine">It is kept on this server alone: it syncs with nothing, and nothing is sent from it.</p>`}
    <div class=${over ? "import-drop over" : "import-drop"} ...${listeners}>
      <p>Drop a mailbox here, or</p>
      <button type="button" class="button" onClick=${() => picker.current?.click()}>
        <${Icon} name="plus" size=${16} /> Choose a file</button>
      <input ref=${picker} type="file" hidden multiple aria-label="Mailbox to import"
        onChange=${(/** @type {{ currentTarget: HTMLInputElement }} */ event) => {
          send(event.currentTarget.files ?? []);
          event.currentTarget.value = "";
        }} />
    </div>
    <${UploadList} uploads=${uploads} cancel=${cancel} />
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
  </section>`;
}

/**
 * The mails of a mailbox that Apple Mail has exported: a folder “Work.mbox” with a file “mbox”.
 * @param {FileSystemDirectoryEntry} folder
 * @returns {Promise<File | null>}
 */
function mailboxIn(folder) {
  return new Promise((resolve) => {
    const none = () => resolve(null);
    const read = (/** @type {FileSystemEntry} */ entry) => /** @type {FileSystemFileEntry} */ (entry).file(
      (file) => resolve(new File([file], folder.name, { type: file.type })), none);
    if (folder.name.toLowerCase().endsWith(".mbox")) folder.getFile("mbox", {}, read, none);
    else none();
  });
}

/** @param {{ one: Import, changed: () => Promise<void> }} props */
function ImportRow({ one, changed }) {
  const [looks, setLooks] = useState(0);
  useEffect(() => {
    if (!looks || one.state === "working" || one.state === "done") return undefined;
    const timer = setTimeout(() => {
      setLooks(looks - 1);
      void changed();
    }, LOOK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [looks, one.state, changed]);
  const goOn = async () => {
    try {
      await mutate("runs.retry", { id: one.runId });
      setLooks(LOOKS_FOR_A_RETRY);
    } catch (error) {
      toast(`Could not retry ${one.name}: ${reasonOf(error)}`, { tone: "error" });
    }
  };
  const stop = async () => {
    try {
      await mutate("runs.cancel", { id: one.runId });
    } finally {
      await changed();
    }
  };
  const isTried = looks > 0 && one.state !== "working" && one.state !== "done";
  return html`<li class="import">
    <strong class="import-name">${one.name}</strong>
    <span role=${one.state === "working" ? "status" : undefined}>${isTried ? "Is tried again …" : words(one)}</span>
    ${one.state === "working" && (!one.waitsFor || one.percent > 0) && html`<progress max="100" value=${one.percent}
      aria-label=${`Importing ${one.name}`}></progress>`}
    ${one.reasons.length > 0 && html`<details><summary>What was passed over</summary>
      <ul>${one.reasons.map((reason, place) => html`<li key=${place}>${reason}</li>`)}</ul></details>`}
    <span class="account-foot"><a href=${`/p/runs/${one.runId}`}>Show the run</a>
      ${(one.state === "failed" || one.state === "stopped") && html`<button type="button" class="button small"
        disabled=${looks > 0} aria-label=${`Retry ${one.name}`} onClick=${() => void goOn()}>Retry</button>`}
      ${one.state === "working" && html`<${ConfirmButton} label="Stop" what=${one.name} run=${stop} />`}</span>
  </li>`;
}

/** @param {Import} one */
function words(one) {
  const counted = [`${plural(one.added, "mail")} imported`];
  if (one.known) counted.push(`${number(one.known)} ${one.known === 1 ? "was" : "were"} here already`);
  if (one.skipped) counted.push(`${number(one.skipped)} passed over`);
  const told = counted.join(", ");
  if (one.waitsFor) return `${WAITS[one.waitsFor]}${one.percent ? `. ${one.percent} % until now: ${told}` : ""}.`;
  if (one.state === "working") return `${one.percent} %: ${told}`;
  if (one.state === "failed") return `Failed. ${one.problem ?? ""}${one.added ? ` Until then: ${told}.` : ""}`;
  return one.state === "stopped" ? `Stopped: ${told}.` : `Done: ${told}.`;
}

function ExportList() {
  const known = accounts.value ?? [];
  if (!known.length) return null;
  return html`<section class="setting" aria-labelledby="export-title">
    <h2 id="export-title">Export mail</h2>
    <p class="fine">All mail of an account as one mbox, with its labels, read and starred.</p>
    <ul class="imports">${known.map((one) => html`<li key=${one.id} class="export">
      <span class="import-name">${one.address}</span>
      <span class="quiet-text">${plural(one.messages, "mail")}</span>
      <a class="button small" download href=${`/mail/accounts/${encodeURIComponent(one.id)}/export`}
        aria-label=${`Export ${one.address}`}><${Icon} name="download" size=${16} /> Export</a>
    </li>`)}</ul>
  </section>`;
}
