// @ts-check
/**
 * Swipes on a row: to the right it archives, to the left it snoozes. Both also have a key.
 *
 * The row follows the finger; below it the action is shown. The browser keeps vertical movement (`touch-action:
 * pan-y`), and its own gesture at the edges. Owns the current swipe.
 */
import { signal } from "@preact/signals";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toolsFor } from "./tools.js";

/** A shorter movement is an unsteady tap. */
const BEGINS_PX = 10;
/** The sideways movement must be this many times the vertical one. */
const SIDEWAYS = 1.5;
/** The part of the row's width from which letting go runs the action. */
const HAPPENS = 0.35;
/** At the edges of the screen the browser's own back gesture starts. */
const EDGE_PX = 24;

/** @typedef {{ id: string, tool: import("./tools.js").Tool, side: "left" | "right" }} Drawn */

/** The row under the swipe, and the action of the swipe. */
export const drawn = signal(/** @type {Drawn | null} */ (null));
/** @type {{ row: HTMLElement, thread: Thread, x: number, y: number, sideways: boolean } | null} */
let held = null;

/** @param {PointerEvent} event @param {HTMLElement} row @param {Thread} thread */
export function takeHold(event, row, thread) {
  const inside = event.clientX > EDGE_PX && event.clientX < innerWidth - EDGE_PX;
  const mayDraw = event.pointerType === "touch" && event.isPrimary && inside;
  held = mayDraw ? { row, thread, x: event.clientX, y: event.clientY, sideways: false } : null;
}

/** @param {PointerEvent} event */
export function draw(event) {
  if (!held) return;
  const [by, down] = [event.clientX - held.x, Math.abs(event.clientY - held.y)];
  if (!held.sideways) {
    if (Math.max(Math.abs(by), down) < BEGINS_PX) return;
    if (Math.abs(by) < SIDEWAYS * down) {
      held = null;
      return;
    }
    held.sideways = true;
    held.row.setPointerCapture(event.pointerId);
    held.row.dataset["drawn"] = "";
  }
  held.row.style.translate = `${by}px`;
  const side = by > 0 ? "right" : "left";
  if (drawn.value?.side !== side) drawn.value = { id: held.thread.id, tool: toolOf(held.thread, side), side };
}

/** @param {PointerEvent} event */
export function letGo(event) {
  const [mine, led] = [held, drawn.value];
  held = drawn.value = null;
  if (!mine?.sideways) return;
  delete mine.row.dataset["drawn"];
  mine.row.style.translate = "";
  const far = Math.abs(event.clientX - mine.x) >= HAPPENS * mine.row.offsetWidth;
  if (far && event.type === "pointerup") led?.tool.run([mine.thread]);
}

/** @param {{ top: number }} props */
export function BelowDrawn({ top }) {
  const { side, tool } = /** @type {Drawn} */ (drawn.value);
  return html`<div class=${`below-drawn ${side}`} aria-hidden="true" style=${{ transform: `translateY(${top}px)` }}>
    <${Icon} name=${tool.icon} /> ${tool.label}</div>`;
}

/**
 * The action of a side: archive, or back to the inbox; snooze.
 * @param {Thread} thread
 * @param {"left" | "right"} side
 */
function toolOf(thread, side) {
  const icons = side === "right" ? ["archive", "inbox"] : ["clock"];
  return /** @type {import("./tools.js").Tool} */ (toolsFor([thread]).find(({ icon }) => icons.includes(icon)));
}
