// @ts-check
/**
 * Why a mail account was not connected, in our words. The address carries a code only: whoever makes up an address must
 * not be able to speak in our name. The codes are those of ConnectCause in svc/mail/connecting/connection.py.
 */

/** @type {Record<string, string>} */
const REFUSALS = {
  "no-consent": "You did not grant access, so nothing was connected.",
  ended: "The provider did not grant access. Try again, or look at the OAuth client’s settings there.",
  "scope-unticked":
    "Access to the mailbox was not granted: leave the box for reading, composing and sending mail ticked on " +
    "Google’s consent screen.",
  "no-refresh-token":
    "Google granted no lasting access (no refresh token). Remove this app under your Google account’s third-party " +
    "connections, then connect again.",
  "code-rejected": "The sign-in was used already or took too long. Connect again.",
  "client-rejected": "Google does not accept this server’s OAuth client id or secret. Tell the owner of this server.",
  "wrong-identity":
    "The sign-in service’s word on who signed in was not meant for this server, or this machine’s clock is wrong.",
  "clock-wrong": "The clock of this server is wrong. Its owner has to set it right; then connect again.",
  "another-mailbox": "You granted access to another mailbox than the one that was to be connected. Nothing was " +
    "connected.",
  "someone-elses": "This address is connected by somebody else on this server.",
  "being-erased": "The mail of this account is still being erased. Connect it again in a moment.",
  "api-off": "The Gmail API is switched off for this server’s OAuth client. Its owner has to enable it; then connect " +
    "again.",
  "provider-away":
    "The provider can’t be reached, or does not work at the moment. Try again later; the server’s log says more.",
};
const GENERAL = "The account was not connected. Try again; if that does not help, tell the owner of this server.";

/** @param {string} code what the address says */
export function refusalFor(code) {
  return (Object.hasOwn(REFUSALS, code) && REFUSALS[code]) || GENERAL;
}
