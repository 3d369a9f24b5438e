// @ts-check
/** A button that asks for confirmation in its own place before an action that can't be undone, and shows errors. */
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { html } from "./html.js";

/**
 * `run` throws if it fails. Without a `question` it runs at the first press.
 * @param {{ label: string, what?: string, question?: string | (() => Promise<string>), sure?: string, action?: string,
 *   calm?: boolean, run: () => Promise<void> }} props
 *   `question`: a function if the text must be loaded first;
 *   `what`: what the button is about, for people who don't see its row; `action`: the name by which a key finds the
 *   button; `calm`: the action removes nothing, so the second button has no warning colour
 */
export function ConfirmButton({ label, what = "", question, sure = label, action, calm, run }) {
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
          <button type="button" class="button small" ref=${keep} onClick=${() => setStep("idle")}>${label === "Cancel"
            ? "Leave it" : "Cancel"}</button>
        </span>`
      : html`<button type="button" class="button small" ref=${first} aria-label=${spoken(label, what)}
        data-action=${action} aria-busy=${step === "busy"} onClick=${ask}>${label}</button>`}
    ${problem && html`<span class="form-problem" role="alert">${problem}</span>`}
  </span>`;
}

/**
 * The accessible name. It begins with the words on the button: people who control by voice say what they see.
 * @param {string} label
 * @param {string} what
 */
function spoken(label, what) {
  return what ? `${label}: ${what}` : undefined;
}
