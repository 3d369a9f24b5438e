// @ts-check
/**
 * Connects any mailbox by its password: the address, the servers that were found for it, the password, and errors in
 * words.
 *
 * The servers that were found are shown and can be changed by hand. A certificate that does not prove its server is
 * shown, too, and can be accepted for this one account. The password is only in this form.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { RpcError, mutate, queryAlone } from "../rpc.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { loadAccounts } from "./accounts.js";
import { OAuthConnect } from "./connect_oauth.js";
import { startPath } from "./start_path.js";

/**
 * @typedef {InputOf<"mail.connectImap">} Wanted
 * @typedef {Omit<OutputOf<"mail.discover">, "imap" | "smtp" | "source">
 *   & { imap: Server, smtp: Server, source: keyof typeof SOURCES }} Found
 * @typedef {{ host: string, port: number, security: "tls" | "starttls", pin?: string | null }} Server
 * @typedef {{ text: string, server: "imap" | "smtp", certificate: Certificate | null }} Refused
 * @typedef {{ sha256: string, subject: string, issuer: string, notAfter: string }} Certificate
 */

const SOURCES = {
  preset: "This provider is known.",
  autoconfig: "The domain of the address says so.",
  srv: "The domain of the address says so.",
  kept: "It was connected by these so far.",
  guess: "Nothing was found, so these are guesses: look whether they are right.",
};

/**
 * `known`: the account to reconnect, with its current servers. `typed` is called with the address while it is typed.
 * @param {{ known?: { id: string, address: string } | null, done: () => void,
 *   typed?: (address: string) => void }} props
 */
export function PasswordConnect({ known = null, done, typed }) {
  const [address, setAddress] = useState(known?.address ?? "");
  const [found, setFound] = useState(/** @type {Found | null} */ (null));
  const [busy, setBusy] = useState("");
  const [problem, setProblem] = useState("");
  const look = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    await discover();
  };
  const discover = async () => {
    setProblem("");
    setBusy("Looking for the servers…");
    try {
      const kept = known && await mutate("mail.imapServers", { accountId: known.id });
      setFound(kept ? asFound(kept) : await queryAlone("mail.discover", { address }));
    } catch (error) {
      setProblem(wordsOf(error));
    } finally {
      setBusy("");
    }
  };
  useEffect(() => void (known && discover()), []);
  return html`<section class="connect-password" aria-labelledby="connect-password-title">
    <h2 id="connect-password-title">With a password (IMAP)</h2>
    ${known ? html`<p class="quiet-text" role="status">${busy}</p>
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}` : html`
    <form class="password-form" onSubmit=${look}>
      <label for="imap-address">Address of the mailbox</label>
      <div class="connect-row">
        <input id="imap-address" type="email" autocomplete="email" required placeholder="you@example.com"
          value=${address} onInput=${(/** @type {InputEvent} */ event) => {
            setAddress(valueOf(event).trim());
            typed?.(valueOf(event).trim());
            setFound(null);
          }} />
        <button class=${`button ${found ? "" : "primary"}`} type="submit" disabled=${Boolean(busy)}>Continue</button>
      </div>
      <p class="quiet-text" role="status">${busy}</p>
      ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    </form>`}
    ${found && (found.signIn === "oauth"
      ? html`<${OAuthConnect} key=${address} address=${address} found=${found} again=${discover} />`
      : html`<${SignIn} key=${address} address=${address} found=${found} done=${done} />`)}
  </section>`;
}

/** @param {NonNullable<OutputOf<"mail.imapServers">>} kept @returns {Found} */
function asFound({ imap, smtp, username }) {
  return { imap, smtp, username, source: "kept", help: null, signIn: "password", oauth: null };
}

/** @param {{ address: string, found: Found, done: () => void }} props */
function SignIn({ address, found, done }) {
  const password = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [username, setUsername] = useState(found.username);
  const [imap, setImap] = useState(found.imap);
  const [smtp, setSmtp] = useState(found.smtp);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState(/** @type {Refused | null} */ (null));
  const connect = async (/** @type {Server} */ inServer, /** @type {Server} */ outServer) => {
    setBusy(true);
    setRefused(null);
    const wanted = { address, password: password.current?.value ?? "", username, imap: inServer, smtp: outServer };
    try {
      await mutate("mail.connectImap", wanted);
      if (password.current) password.current.value = "";
      await loadAccounts();
      done();
    } catch (error) {
      setRefused(refusalOf(error));
    } finally {
      setBusy(false);
    }
  };
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    void connect(imap, smtp);
  };
  const accept = (/** @type {string} */ pin) => {
    const [inServer, outServer] = refused?.server === "smtp" ? [imap, { ...smtp, pin }] : [{ ...imap, pin }, smtp];
    setImap(inServer);
    setSmtp(outServer);
    void connect(inServer, outServer);
  };
  return html`<form class="password-form" onSubmit=${submit}>
    ${found.help && html`<p class="quiet-text">${withLinks(found.help)}</p>`}
    ${found.oauth?.ready && html`<p>
      <a class="button" href=${startPath(address, found.oauth.provider)}>Connect with ${found.oauth.service}</a> ${" "}
      <span class="quiet-text">or with a password:</span></p>`}
    <label for="imap-password">Password</label>
    <div class="connect-row">
      <input id="imap-password" type="password" autocomplete="off" required ref=${password} />
      <button class="button primary" type="submit" disabled=${busy}>Connect</button>
    </div>
    <details class="steps" open=${found.source === "guess"}>
      <summary><${Icon} name="chevron" size=${14} /> Servers: ${imap.host}, ${smtp.host}</summary>
      <p class="quiet-text">${SOURCES[found.source]}</p>
      <label for="imap-username">User name</label>
      <input id="imap-username" autocomplete="off" value=${username}
        onInput=${(/** @type {InputEvent} */ event) => setUsername(valueOf(event))} />
      <${ServerFields} id="imap" title="Reading (IMAP)" server=${imap} change=${setImap} />
      <${ServerFields} id="smtp" title="Sending (SMTP)" server=${smtp} change=${setSmtp} />
    </details>
    <p class="quiet-text" role="status">${busy && "Signing in at both servers…"}</p>
    ${refused && html`<p class="form-problem" role="alert">${refused.text}</p>`}
    ${refused?.certificate && html`<${Accept} certificate=${refused.certificate} busy=${busy} accept=${accept} />`}
  </form>`;
}

/** @param {{ id: string, title: string, server: Server, change: (server: Server) => void }} props */
function ServerFields({ id, title, server, change }) {
  const put = (/** @type {Partial<Server>} */ changed) => change({ ...server, pin: null, ...changed });
  return html`<fieldset class="connect-server">
    <legend>${title}</legend>
    <label for=${`${id}-host`}>Host</label>
    <input id=${`${id}-host`} autocomplete="off" value=${server.host}
      onInput=${(/** @type {InputEvent} */ event) => put({ host: valueOf(event).trim() })} />
    <label for=${`${id}-port`}>Port</label>
    <input id=${`${id}-port`} type="number" min="1" max="65535" value=${server.port}
      onInput=${(/** @type {InputEvent} */ event) => put({ port: Number(valueOf(event)) })} />
    <label for=${`${id}-security`}>Security</label>
    <select id=${`${id}-security`} value=${server.security} onChange=${(/** @type {Event} */ event) =>
      put({ security: valueOf(event) === "starttls" ? "starttls" : "tls" })}>
      <option value="tls">TLS</option>
      <option value="starttls">STARTTLS</option>
    </select>
  </fieldset>`;
}

/** @param {{ certificate: Certificate, busy: boolean, accept: (pin: string) => void }} props */
function Accept({ certificate, busy, accept }) {
  return html`<div class="notice bad">
    <${Icon} name="warning" />
    <div>
      <p>The server shows this certificate. Accept it only where you know that it is the right one, as for a program on
        this machine: the server that shows it gets the password.</p>
      <dl class="connect-certificate">
        <dt>For</dt><dd>${certificate.subject}</dd>
        <dt>By</dt><dd>${certificate.issuer}</dd>
        <dt>Until</dt><dd>${certificate.notAfter.slice(0, 10)}</dd>
        <dt>SHA-256</dt><dd><code>${certificate.sha256}</code></dd>
      </dl>
      <button class="button small danger" type="button" disabled=${busy}
        onClick=${() => accept(certificate.sha256)}>Accept for this account</button>
    </div>
  </div>`;
}

/** Our own text, with links to the pages that it names. @param {string} words */
function withLinks(words) {
  return words.split(/(https:\/\/[^\s]+)/).map((part, index) => (index % 2
    ? html`<a key=${part} href=${part} target="_blank" rel="noopener noreferrer">${part}</a>` : part));
}

/** @param {unknown} error @returns {Refused} */
function refusalOf(error) {
  const data = error instanceof RpcError ? error.data : {};
  const certificate = /** @type {Certificate | undefined} */ (data.certificate);
  return { text: wordsOf(error), server: data.server === "smtp" ? "smtp" : "imap", certificate: certificate ?? null };
}

/** @param {unknown} error */
function wordsOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {Event} event */
function valueOf(event) {
  return /** @type {HTMLInputElement} */ (event.target).value;
}
