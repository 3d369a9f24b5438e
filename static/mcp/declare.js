// @ts-check
/** Adds an MCP server: a name, and its address or its program. It becomes a page, which can hold more settings. */
import { useState } from "preact/hooks";
import { mutate } from "../rpc.js";
import { isAdmin } from "../session.js";
import { isSwitchedOff } from "../switches.js";
import { useAction } from "../ui/action.js";
import { html } from "../ui/html.js";

const NAME = /^[a-z0-9][a-z0-9_-]{0,39}$/;
const WORD = /"([^"]*)"|'([^']*)'|(\S+)/g;

/** @param {{ taken: readonly string[], load: () => Promise<void> }} props */
export function Declare({ taken, load }) {
  const [name, setName] = useState("");
  const [target, setTarget] = useState("");
  const [wrong, setWrong] = useState("");
  const { busy, problem, run } = useAction();
  const programs = isAdmin() && !isSwitchedOff("stdio-mcp");
  const save = (/** @type {Event} */ event) => {
    event.preventDefault();
    const found = flaw(name, target, taken, programs);
    setWrong(found);
    if (found) return;
    void run(async () => {
      await mutate("pages.save", { path: `mcp/${name}`, body: pageOf(target), revision: 0 });
      setName("");
      setTarget("");
      await load();
    });
  };
  return html`<section class="setting" aria-labelledby="mcp-new">
    <h2 id="mcp-new">Add a server</h2>
    <form class="mcp-form" onSubmit=${save}>
      <label class="field"><span>Name</span><input value=${name} autocomplete="off" spellcheck=${false}
        onInput=${(/** @type {Event} */ event) => setName(/** @type {HTMLInputElement} */ (event.target).value)}
        /></label>
      <label class="field"><span>${programs ? "Address or program" : "Address"}</span><input value=${target}
        autocomplete="off" spellcheck=${false} placeholder="https://mcp.example.com/mcp"
        onInput=${(/** @type {Event} */ event) => setTarget(/** @type {HTMLInputElement} */ (event.target).value)}
        /></label>
      <button type="submit" class="button primary" aria-busy=${busy}>Add</button>
      ${(wrong || problem) && html`<p class="form-problem" role="alert">${wrong || problem}</p>`}
    </form>
    <p class="fine">It is saved as ${name ? `the page mcp/${name}` : "a page of yours"}. There you can also set what
      the server gets: variables or headers, and credentials by name.</p>
  </section>`;
}

/**
 * @param {string} name
 * @param {string} target
 * @param {readonly string[]} taken
 * @param {boolean} programs
 */
function flaw(name, target, taken, programs) {
  if (!NAME.test(name)) return "A name has small letters, digits, - and _, and 40 at most.";
  if (taken.includes(name)) return "There is a server of that name.";
  if (!target.trim()) return "Say where it is, or what is started.";
  return !programs && !isAddress(target) ? "It is an address, such as https://mcp.example.com/mcp." : "";
}

/** @param {string} target */
function isAddress(target) {
  return /^https?:\/\//i.test(target.trim());
}

/** The front matter of the page; JSON text is valid YAML. @param {string} target */
function pageOf(target) {
  if (isAddress(target)) return `---\nurl: ${JSON.stringify(target.trim())}\n---\n`;
  const words = [...target.matchAll(WORD)].map(([, double, single, plain]) => double ?? single ?? plain ?? "");
  return `---\ncommand: ${JSON.stringify(words[0])}\nargs: ${JSON.stringify(words.slice(1))}\n---\n`;
}
