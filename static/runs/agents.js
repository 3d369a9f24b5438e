// @ts-check
/** Agents in the command palette: the user's agents, and any typed text as a task. The run gets the open thread or page
 *  as its input. */
import { signal } from "@preact/signals";
import { features } from "../feature.js";
import { fromHere, navigate, place } from "../router.js";
import { mutate, query } from "../rpc.js";
import { toast } from "../ui/toast.js";
import { runHref } from "./address.js";

/** @typedef {{ agent?: string, prompt?: string }} Wanted */
/** @typedef {{ threadId: string } | { page: string }} Input */

const MIN_WORDS = 2;
const THREAD = /^\/p\/mail\/.*\bt\/([^/]+)$/;

/** @type {import("@preact/signals").Signal<{ name: string, path: string, title: string, plugin: string | null }[]>} */
const agents = signal([]);

export function prepareAgents() {
  query("agents.list").then((found) => {
    agents.value = found;
  }, () => {});
}

/** @returns {import("../feature.js").Command[]} */
export function agentCommands() {
  return agents.value.map((one) => ({ id: `agent ${one.path}`, label: `Run the agent ${one.title}`, group: "Agents",
    run: () => begin({ agent: named(one) }) }));
}

/**
 * How `agents.run` names the agent: a page by its name, a plugin's agent by its path, because a page may have the same
 * name.
 * @param {{ name: string, path: string, plugin: string | null }} agent
 */
export const named = ({ name, path, plugin }) => (plugin ? path : name);

/** The typed text as a task. @param {string} text @returns {Promise<import("../feature.js").Command[]>} */
export async function askCommand(text) {
  if (text.trim().split(/\s+/).length < MIN_WORDS) return [];
  return [{ id: "agent ask", label: `Ask an agent: ${text}`, group: "Agents", run: () => begin({ prompt: text }) }];
}

/**
 * Starts a run and shows it, or offers to if the person has gone on meanwhile; tells the person if that fails.
 * `input`: what the run is about; by default the thread or page that is open.
 * @param {Wanted} wanted
 * @param {Input | null} [input]
 */
export async function begin(wanted, input = here()) {
  const go = fromHere();
  try {
    const href = runHref(await start(wanted, input));
    if (!go(href)) toast("The agent has begun.", { action: { label: "Open", run: () => navigate(href) } });
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), { tone: "error" });
  }
}

/** Starts a run, and resolves to its id. @param {Wanted} wanted @param {Input | null} input */
export async function start(wanted, input) {
  const { runId } = await mutate("agents.run", { ...wanted, ...(input && { input }) });
  return runId;
}

/** The thread or page that is open. Other places of the app, such as the inbox, are neither. */
function here() {
  const thread = THREAD.exec(location.pathname)?.[1];
  if (thread) return { threadId: decodeURIComponent(thread) };
  const { route, params } = place.value;
  const shown = features().find(({ routes }) => routes?.some((one) => one === route));
  const { path } = /** @type {{ path?: string }} */ (params);
  return shown?.name === "pages" && path ? { page: path } : null;
}
