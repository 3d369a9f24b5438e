// @ts-check
/** The steps that an admin takes once at Google or Microsoft, and the meaning of their refusals. Texts only. */
import { CopyLine } from "../ui/copy.js";
import { html } from "../ui/html.js";

/** Google's errors and their meaning: the same as docs/connect-a-mailbox.md. */
export const GOOGLE_ERRORS = [
  { said: "redirect_uri_mismatch", means: "The client does not know the address of this server, letter by letter.",
    then: "Add the redirect URIs above to it." },
  { said: "invalid_client", means: "The id or the secret is wrong, or the client was deleted.",
    then: "Copy both again, and replace the client here." },
  { said: "access_denied", means: "The app is in testing and this person is no test user of it, or they refused.",
    then: "Add them under Audience, Test users, or publish the app." },
  { said: "Google hasn’t verified this app", means: "It is your own app, so nobody has verified it.",
    then: "Choose Advanced, and go on." },
  { said: "accessNotConfigured", means: "The Gmail API is switched off in the client’s project.",
    then: "Enable it; mail follows by itself." },
  { said: "access ended after 7 days", means: "The app is in testing, where each grant ends after 7 days.",
    then: "Publish it under Audience, and connect the account again." },
];

/** Microsoft's errors by their codes: the same as docs/outlook.md. */
export const MICROSOFT_ERRORS = [
  { said: "AADSTS50011", means: "The app registration does not know the redirect URI of this server.",
    then: "Add it for the platform Web." },
  { said: "AADSTS7000215", means: "The client secret is wrong: often its id was copied, and not its value.",
    then: "Copy its value, and replace the client here." },
  { said: "AADSTS7000222", means: "The client secret has expired.",
    then: "Make a new one, and replace the client here." },
  { said: "AADSTS65001, AADSTS90094", means: "An administrator of the organisation has to consent first.",
    then: "Choose Grant admin consent under API permissions." },
  { said: "AADSTS50194", means: "The app is for one organisation alone.",
    then: "Set its Directory (tenant) ID here, or open the app to others." },
];

/** @param {{ callbacks: unknown, form: unknown }} props */
export function GoogleSteps({ callbacks, form }) {
  return html`<ol>
    <li>In the <a href="https://console.cloud.google.com/projectcreate" target="_blank" rel="noopener noreferrer">Google
      Cloud console</a>${" "}
      create a project, any name, and <a href="https://console.cloud.google.com/apis/library/gmail.googleapis.com"
        target="_blank" rel="noopener noreferrer">enable the Gmail API</a> in it.</li>
    <li>Under <b>OAuth consent screen</b> choose <i>External</i> (or <i>Internal</i> in a Workspace), fill in the names
      and add your address as a test user. While it is in <i>testing</i>, every grant ends after 7 days: publish it to
      keep yours.</li>
    <li>Under <b>Credentials</b> create an OAuth client ID of type <b>Web application</b> with these authorized redirect
      URIs, the first for mail, the second for signing in here:${" "}
      ${callbacks}</li>
    <li>Put in what you got:${" "}
      ${form}</li>
  </ol>`;
}

/** @param {{ way: OutputOf<"mail.signIns">[number], callbacks: unknown, form: unknown }} props */
export function MicrosoftSteps({ way, callbacks, form }) {
  const scopes = way.scopes.map((one) => one.replace(/^https:\/\/outlook\.office\.com\//, ""));
  return html`<ol>
    <li>In the <a href="https://entra.microsoft.com/#view/Microsoft_AAD_RegisteredApps/ApplicationsListBlade"
      target="_blank" rel="noopener noreferrer">Microsoft Entra admin center</a>, under <b>App registrations</b>,
      choose <i>New registration</i>: any name, and accounts in <i>any organizational directory and personal Microsoft
      accounts</i>, or those of your organisation alone.</li>
    <li>As redirect URI choose the platform <b>Web</b> and${" "}
      ${callbacks}</li>
    <li>Under <b>API permissions</b> add these delegated permissions of <i>Microsoft Graph</i>:
      <${CopyLine} text=${scopes.join(" ")} label="the permissions" />
      In an organisation that lets people consent to no apps, choose <i>Grant admin consent</i>, too.</li>
    <li>Under <b>Certificates & secrets</b> make a client secret, and copy its <i>value</i>.</li>
    <li>Put in the <i>Application (client) ID</i> and that value; for an app of one organisation also its${" "}
      <i>Directory (tenant) ID</i>.${" "}
      ${form}</li>
  </ol>`;
}
