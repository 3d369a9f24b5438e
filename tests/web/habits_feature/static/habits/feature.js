// @ts-check
/** Habits, as the app's list has them. */
import { signal } from "@preact/signals";
import { query } from "../rpc.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";

/** @type {any} */
const habits = signal([]);

async function load() {
  habits.value = await query("habits.list", {});
}

function Habits() {
  return html`<ul class="habits">${habits.value.map((/** @type {any} */ one) =>
    html`<li>${one.name}: ${one.done} of ${one.goal}</li>`)}</ul>`;
}

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "habits",
  routes: [{
    parse: ({ pathname }) => (pathname === "/p/habits" ? {} : null),
    show: () => html`<${Shell}><${Habits} /></${Shell}>`,
  }],
  nav: [{ at: "top", title: "Habits", icon: "habits", href: () => "/p/habits" }],
  start: () => void load(),
  icons: { habits: "M4 10h12M10 4v12" },
};
