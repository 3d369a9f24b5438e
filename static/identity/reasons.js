// @ts-check
/**
 * Why a sign-in failed, in our words. The address holds only a code, so that a forged link can't show its own text in
 * our name. The codes are those of svc/identity/idp_routes.py.
 */

const NOT_ACCEPTED = "The sign-in service’s word on who you are was not accepted: ";
const AGAIN = " Sign in again; if that does not help, tell the owner of this server.";
const TELL_OWNER = " Tell the owner of this server.";

/** @type {Record<string, string>} */
const REASONS = {
  "code-rejected": "The sign-in was used already or took too long. Sign in again.",
  "client-rejected": `The sign-in service does not accept this server’s client id or secret.${TELL_OWNER}`,
  "client-type": `This server’s OAuth client is of the wrong type for signing in.${TELL_OWNER}`,
  "client-gone": `This server’s OAuth client was deleted or disabled at the sign-in service.${TELL_OWNER}`,
  "redirect-unknown": `The sign-in service does not know the address of this server.${TELL_OWNER}`,
  "no-consent": "You did not allow the sign-in, so you are not signed in. Try again when you want to.",
  ended: `The sign-in service ended the sign-in.${AGAIN}`,
  "another-service": "Another sign-in service answered than the one that was asked. Sign in again.",
  "no-identity": `The sign-in service did not say who you are.${TELL_OWNER}`,
  malformed: `${NOT_ACCEPTED}it can’t be understood.${AGAIN}`,
  algorithm: `${NOT_ACCEPTED}it is not signed in a way that can be trusted.${AGAIN}`,
  "unknown-key": `${NOT_ACCEPTED}it is not signed with a key that the service publishes.${AGAIN}`,
  "key-use": `${NOT_ACCEPTED}its key is published for something else than signatures.${AGAIN}`,
  "weak-key": `${NOT_ACCEPTED}its key is too weak to be believed.${AGAIN}`,
  signature: `${NOT_ACCEPTED}its signature is wrong.${AGAIN}`,
  issuer: `${NOT_ACCEPTED}it comes from another issuer.${AGAIN}`,
  audience: `${NOT_ACCEPTED}it is meant for another server.${AGAIN}`,
  nonce: `${NOT_ACCEPTED}it belongs to another sign-in.${AGAIN}`,
  time: `${NOT_ACCEPTED}it has expired or is not valid yet, or this server’s clock is wrong.${AGAIN}`,
  "no-subject": `${NOT_ACCEPTED}it names nobody.${AGAIN}`,
  "provider-away":
    "The sign-in service can’t be reached, or does not work at the moment. Try again later; the server’s log says " +
      "more.",
  "not-admitted":
    "This server takes members by invitation. Ask its owner for an invite link, and open it before you sign in.",
  unverified:
    "The sign-in service has not verified your mail address, so it can’t be used here. Verify it there, then sign in " +
      "again.",
  "other-provider":
    "This administrator’s account belongs to another sign-in service. Sign in the way you did before, or by a link " +
      "from " +
    "svc claim, and then sign in here from the same browser.",
};
const GENERAL = `The sign-in did not succeed.${AGAIN}`;

/** @param {string | null} code from the address, if it has one */
export function reasonFor(code) {
  if (!code) return "";
  return (Object.hasOwn(REASONS, code) && REASONS[code]) || GENERAL;
}
