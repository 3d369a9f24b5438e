// @ts-check
/**
 * Why a mail account was not connected, in our words. The address contains only a code, so a made-up address can't show
 * text in our name. The codes are those of ConnectCause in svc/mail/connecting/connection.py. What an IMAP server says
 * to a password is put into words by the service: svc/mail/providers/imap/faults.py.
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
  "client-rejected": "The provider does not accept this server’s OAuth client. Tell the owner of this server.",
  "redirect-unknown":
    "The provider does not know this server’s redirect URI. Its owner has to add it to the app registration there.",
  "client-unknown":
    "The provider does not know this server’s client id in this directory. The owner of this server has to correct it.",
  "wrong-directory":
    "The app registration of this server is for one organisation alone. Its owner has to set that organisation’s " +
    "directory (tenant) id, or open the app registration to others.",
  "secret-wrong": "The client secret of this server is wrong. Its owner has to set it again: its value, not its id.",
  "secret-expired": "The client secret of this server has expired. Its owner has to make a new one, and set it.",
  "secret-missing": "The app registration of this server wants a client secret, and none is set. Tell its owner.",
  "admin-consent":
    "Your organisation lets people connect no app by themselves: one of its administrators has to consent to this " +
    "server’s app first. Nothing was connected.",
  "account-kind":
    "The app registration of this server does not take accounts of this kind or organisation. Tell its owner.",
  blocked: "A rule of your organisation does not let you in through this server. Ask its administrator.",
  "wrong-identity":
    "The sign-in service’s word on who signed in was not meant for this server, or this machine’s clock is wrong.",
  "clock-wrong": "The clock of this server is wrong. Its owner has to set it right; then connect again.",
  "another-mailbox": "You granted access to another mailbox than the one that was to be connected. Nothing was " +
    "connected.",
  "connected-otherwise":
    "This address is connected here in another way. To connect it by its provider’s sign-in, disconnect it first, " +
    "and have its mail erased from here.",
  "mailbox-closed":
    "You granted access, but the mail server does not open this mailbox: IMAP is switched off for it, or the account " +
    "that signed in has no mailbox of that address. Nothing was connected.",
  "sending-off":
    "The mailbox can be read, but no mail can leave: sending by SMTP is switched off for it. Your mail’s " +
    "administrator can switch on “Authenticated SMTP”; then connect again.",
  "someone-elses": "This address is connected by somebody else on this server.",
  "being-erased": "The mail of this account is still being erased. Connect it again in a moment.",
  "api-off": "The Gmail API is switched off for this server’s OAuth client. Its owner has to enable it; then connect " +
    "again.",
  "provider-away":
    "The provider can’t be reached, or does not work at the moment. Try again later; the server’s log says more.",
};
const GENERAL = "The account was not connected. Try again; if that does not help, tell the owner of this server.";

/** @param {string} code from the address */
export function refusalFor(code) {
  return (Object.hasOwn(REFUSALS, code) && REFUSALS[code]) || GENERAL;
}
