// @ts-check
/** The health of the server: every check, its finding, and the remedy. The same rows as `svc doctor`. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { reasonOf } from "../settings/fetched.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";

/** @typedef {OutputOf<"health.check">["checks"][number]} Check */

/** Findings that need a person come first. @type {readonly Check["state"][]} */
const ORDER = ["failed", "warning", "ok", "skipped"];
const ICONS = { failed: "close", warning: "warning", ok: "check", skipped: "chevron" };
const SHOWN = { failed: "failed", warning: "look here", ok: "well", skipped: "not asked" };

export function HealthSection() {
  const { checks, problem, busy, ask } = useChecks();
  const troubled = checks?.filter((one) => one.state === "failed" || one.state === "warning").length ?? 0;
  return html`<section class="setting" aria-labelledby="health-title" aria-busy=${busy}>
    <h2 id="health-title">Checks</h2>
    <p class="fine">The command <code>svc doctor</code> shows the same. Some checks ask a service whether it
      takes a credential: each check counts as a use, and appears in the credential’s log.</p>
    <div class="health-steps">
      <button class="button" aria-busy=${busy} onClick=${() => void ask()}>Check again</button>
      <p class="quiet-text" role="status">${told(checks, busy, troubled)}</p>
    </div>
    ${problem && html`<p class="form-problem" role="alert">${problem}</p>`}
    <ul class="things">${sorted(checks ?? []).map((one, index) =>
      html`<${Row} key=${`${one.name} ${index}`} check=${one} />`)}</ul>
  </section>`;
}

/** @param {{ check: Check }} props */
function Row({ check }) {
  const { name, summary, state, detail, remedy } = check;
  return html`<li class="thing health-check" data-state=${state}>
    <${Icon} name=${ICONS[state]} size=${16} />
    <p class="thing-title health-name">${name}</p>
    <div class="health-found">
      <p><span class=${state === "ok" ? "sr-only" : "badge"}>${SHOWN[state]}</span> ${detail}</p>
      ${remedy && html`<p class="health-remedy">${remedy}</p>`}
      ${state !== "ok" && html`<p class="fine">${summary}</p>`}
    </div>
  </li>`;
}

/** Runs the checks when the section opens, and by the button. The old findings stay visible meanwhile. */
function useChecks() {
  const [checks, setChecks] = useState(/** @type {readonly Check[] | null} */ (null));
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const asking = useRef(false);
  const ask = useCallback(async () => {
    if (asking.current) return;
    asking.current = true;
    setBusy(true);
    setProblem("");
    try {
      setChecks((await mutate("health.check")).checks);
    } catch (error) {
      setProblem(reasonOf(error));
    }
    asking.current = false;
    setBusy(false);
  }, []);
  useEffect(() => {
    void ask();
  }, [ask]);
  return { checks, problem, busy, ask };
}

/** @param {readonly Check[] | null} checks @param {boolean} busy @param {number} troubled */
function told(checks, busy, troubled) {
  if (busy) return "Checking";
  if (!checks) return "";
  if (troubled === 0) return "All is well.";
  return troubled === 1 ? "One thing needs a look." : `${troubled} things need a look.`;
}

/** @param {readonly Check[]} checks */
function sorted(checks) {
  return [...checks].sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state));
}
