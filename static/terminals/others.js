// @ts-check
/** The list of other admins' terminals, with a button to end one. Their content is not shown. */
import { useState } from "preact/hooks";
import { now } from "../now.js";
import { mutate } from "../rpc.js";
import { useFetched } from "../settings/fetched.js";
import { ConfirmButton } from "../ui/confirm.js";
import { ago, plural } from "../ui/format.js";
import { html } from "../ui/html.js";

/** @param {{ of: TerminalsTerminalOut[] }} props */
export function Others({ of }) {
  const [ended, setEnded] = useState(/** @type {readonly string[]} */ ([]));
  const shown = of.filter((one) => !ended.includes(one.session));
  const users = useFetched("users.list", shown.length > 0);
  if (!shown.length) return null;
  const nameOf = (/** @type {string | null} */ owner) => {
    const user = users.data?.find((one) => one.id === owner);
    return user?.name || user?.email || "somebody else";
  };
  return html`<details class="terminals-others">
    <summary>${plural(shown.length, "terminal")} of other admins</summary>
    <ul class="things">${shown.map(({ session, program, owner, openedAt }) => html`<li class="thing" key=${session}>
      <div class="thing-text"><p class="thing-title"><code>${program}</code> of <bdi>${nameOf(owner)}</bdi></p>
        <p class="fine">opened ${ago(openedAt, now.value)}</p></div>
      <${ConfirmButton} label="End" what=${`${program} of ${nameOf(owner)}`} sure="End it"
        question="All that runs in it ends." run=${async () => {
          await mutate("terminals.kill", { session });
          setEnded((before) => [...before, session]);
        }} /></li>`)}</ul>
  </details>`;
}
