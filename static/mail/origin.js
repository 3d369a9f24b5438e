// @ts-check
/** The verified origin of a message, in words: the server's verdict, and the result of each check. */
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

/** @type {Record<Verdict, string>} */
const ICONS = { verified: "check", failed: "warning", unverified: "help", unknown: "help" };

/** @type {Record<string, string>} */
const SIGNATURES = {
  valid: "holds",
  invalid: "does not hold",
  weak: "is too weak to prove anything",
  partial: "does not cover the whole message",
  expired: "has run out",
  "no-key": "has no key any more",
  unchecked: "could not be checked now",
  unreadable: "can’t be read",
};

/** @typedef {NonNullable<Message["authentication"]>} Origin */
/** @typedef {Origin["verdict"]} Verdict */

/** A row of the message's details; empty for mail that was sent from here. @param {{ message: Message }} props */
export function OriginRow({ message: { authentication: origin } }) {
  if (!origin) return null;
  return html`<div>
    <dt>Sender</dt>
    <dd class=${`origin ${origin.verdict}`}>
      <span class="origin-summary">
        <${Icon} name=${ICONS[origin.verdict]} size=${14} /> <bdi>${origin.summary}</bdi>
      </span>
      ${found(origin).map((words) => html`<span class="origin-found" key=${words}><bdi>${words}</bdi></span>`)}
    </dd>
  </div>`;
}

/** @param {Origin} origin */
function found({ server, results, signatures }) {
  return [
    ...results.map(({ method, result, domain }) => `${server} found: ${method.toUpperCase()} ${result}${of(domain)}`),
    ...signatures.map(({ domain, state }) => `The signature${of(domain)} ${SIGNATURES[state] ?? state}`),
  ];
}

/** @param {string} domain */
function of(domain) {
  return domain && ` of ${domain}`;
}
