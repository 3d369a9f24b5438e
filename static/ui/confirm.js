// @ts-check
/** A button that asks back in its own place before it does what can't be undone, and says why it did not work. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";

/**
 * `run` throws, or returns nothing once it is done. Without a `question` it runs at the first press.
 * @param {{ label: string, what?: string, question?: string | (() => Promise<string>), sure?: string, deed?: string,
 *   calm?: boolean, run: () => Promise<void> }} props
 *   `question`: a function where it has to find out first what it asks;
 *   `what` it is about, for those who don't see the row that the button stands in; `deed`: how a key finds the button;
 *   `calm`: it takes nothing away, so that the second button doesn't warn
 */
export function ConfirmButton({ label, what = "", question, sure = label, deed, calm, run }) {
  const [step, setStep] = useState(/** @type {"idle" | "asking" | "busy"} */ ("idle"));
  const [problem, setProblem] = useState("");
  const [asked, setAsked] = useState("");
  const first = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const keep = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const wasAsking = useRef(false);
  useLayoutEffect(() => {
    if (step === "asking") keep.current?.focus();
    else if (step === "idle" && wasAsking.current) first.current?.focus();
    wasAsking.current = step !== "idle";
  }, [step]);
  const act = async () => {
    if (step === "busy") return;
    setStep("busy");
    setProblem("");
    try {
      await run();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
    setStep("idle");
  };
  const ask = async () => {
    if (step === "busy") return;
    setProblem("");
    if (!question) return void act();
    try {
      if (typeof question === "function") setStep("busy");
      setAsked(typeof question === "function" ? await question() : question);
      setStep("asking");
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      setStep("idle");
    }
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    event.stopPropagation();
    setStep("idle");
  };
  return html`<span class="confirm">
    ${step === "asking"
      ? html`<span class="confirm-ask" role="group" aria-label=${asked} onKeyDown=${onKeyDown}>
          <span class="confirm-question">${asked}</span>
          <button type="button" class=${`button small ${calm ? "primary" : "danger"}`}
            aria-label=${spoken(sure, what)} onClick=${act}>${sure}</button>
          <button type="button" class="button small" ref=${keep} onClick=${() => setStep("idle")}>Cancel</button>
        </span>`
      : html`<button type="button" class="button small" ref=${first} aria-label=${spoken(label, what)}
        data-deed=${deed} aria-busy=${step === "busy"} onClick=${ask}>${label}</button>`}
    ${problem && html`<span class="form-problem" role="alert">${problem}</span>`}
  </span>`;
}

/**
 * The words on the button come first: whoever steers by voice says what is seen.
 * @param {string} label
 * @param {string} what
 */
function spoken(label, what) {
  return what ? `${label}: ${what}` : undefined;
}
