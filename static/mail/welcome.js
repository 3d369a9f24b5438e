// @ts-check
/**
 * The first steps, while no mailbox is connected: one at a time. Each can be skipped, and is still listed in the row of
 * steps. The browser stores which steps were left.
 */
import { signal } from "@preact/signals";
import { navigate } from "../router.js";
import { mutate } from "../rpc.js";
import { isAdmin } from "../session.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";
import { toast } from "../ui/toast.js";
import { mailPath } from "./address.js";
import { loadAccounts } from "./accounts.js";
import { Connect } from "./connect_form.js";
import { loadLabels } from "./labels.js";

/** @typedef {"connect" | "demo" | "invite" | "done"} Step */
/** @type {{ step: Step, name: string }[]} */
const STEPS = [{ step: "connect", name: "Connect your mail" }, { step: "demo", name: "Try the demo" },
  { step: "invite", name: "Invite people" }];
const KEY = "svc.welcome";

const at = signal(kept());

/** Goes back to a step. @param {Step} step */
export function goToStep(step) {
  at.value = step;
  try {
    localStorage.setItem(KEY, step);
  } catch {
    // If the browser stores nothing for us, it starts with the first step again.
  }
}

export function Welcome() {
  const steps = STEPS.filter(({ step }) => step !== "invite" || isAdmin());
  const here = steps.findIndex(({ step }) => step === at.value);
  const skip = () => goToStep(steps[here + 1]?.step ?? "done");
  return html`<div class="connect-page"><div class="connect">
    <nav class="welcome-steps" aria-label="First steps"><ol>${steps.map(({ step, name }, index) => html`<li key=${step}>
      <button type="button" aria-current=${index === here ? "step" : undefined} onClick=${() => goToStep(step)}>
        <span aria-hidden="true">${index + 1}</span> ${name}</button></li>`)}</ol></nav>
    ${at.value === "connect" && html`<${Connect} />`}
    ${at.value === "demo" && html`<h1>Try it with made-up mail</h1><${TryOut} />`}
    ${at.value === "invite" && isAdmin() && html`<${InvitePeople} />`}
    ${here < 0 && html`<h1>Nothing is connected yet</h1>
      <p class="lead">Your mail is here once a mailbox is connected. Pages, tasks and people are there already; the
        steps above stay here until then.</p>`}
    ${here >= 0 && html`<div><button type="button" class="button small" onClick=${skip}>Skip this</button></div>`}
  </div></div>`;
}

/** Adds a made-up mailbox beside the person's own: an account like an imported one, removed by erasing it. */
export function TryOut() {
  const { busy, problem, run } = useAction();
  const begin = () => run(async () => {
    const { accountId } = await mutate("demo.tryOut");
    await Promise.all([loadAccounts(), loadLabels()]);
    toast("The demo’s mail is in your inbox.", { action: { label: "Show it", run: () => navigate(mailPath(accountId))
      } });
  });
  return html`<p class="lead">A small studio’s mailbox comes as an account named <i>demo</i>: to read, archive, snooze,
      label and search, as long as you like.</p>
    <p>It is kept on this server alone. Nothing is sent from it, and nobody else sees it. When you have seen${" "}
      enough, <i>Settings, Accounts</i> disconnects it and erases its mail.</p>
    <div><button type="button" class="button primary" aria-busy=${busy} onClick=${() => void begin()}>
      Try the demo</button></div>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}`;
}

function InvitePeople() {
  return html`<h1>Invite people</h1>
    <p class="lead">Others may work here, too: each with mailboxes of their own, and with what is shared.</p>
    <p>Nobody sees your mail unless you share an account with them. An invite is a link that works once.</p>
    <div><a class="button primary" href="/settings/users">Invite somebody</a></div>`;
}

/** @returns {Step} */
function kept() {
  try {
    const found = localStorage.getItem(KEY);
    return found === "done" ? found : STEPS.find(({ step }) => step === found)?.step ?? "connect";
  } catch {
    return "connect";
  }
}
