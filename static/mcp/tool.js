// @ts-check
/**
 * One tool of an MCP server: its description, its changes since the approval, and the buttons to allow or refuse it.
 */
import { mutate } from "../rpc.js";
import { ConfirmButton } from "../ui/confirm.js";
import { html } from "../ui/html.js";

/** @typedef {OutputOf<"mcp.servers">[number]["tools"][number]} Tool */

const STATES = { new: "waits for you", allowed: "allowed", changed: "has changed", gone: "gone" };

/** @param {{ server: string, tool: Tool, load: () => Promise<void> }} props */
export function ToolRow({ server, tool: one, load }) {
  const { tool, title, description, schema, hints, state, digest, changes } = one;
  const act = async (/** @type {() => Promise<unknown>} */ work) => {
    try {
      await work();
    } finally {
      await load();
    }
  };
  const allow = () => act(() => mutate("mcp.allow", { name: server, tools: [{ name: tool, digest }] }));
  const forbid = () => act(() => mutate("mcp.forbid", { name: server, tools: [tool] }));
  return html`<li class="mcp-tool">
    <div class="mcp-head"><code>${tool}</code> <span class=${`badge ${state === "allowed" ? "open" : ""}`}>${
      STATES[state]}</span></div>
    ${title && html`<p><bdi>${title}</bdi></p>`}
    ${state !== "changed" && html`<p class="mcp-words"><bdi>${description || "It has no description."}</bdi></p>`}
    ${state === "gone" && html`<p class="fine">The server has it no more. Where it comes back as it was, it is allowed.
      </p>`}
    ${state === "changed" && html`<${Changes} changes=${changes} tool=${tool} />`}
    <details class="mcp-more"><summary aria-label=${`What it takes: ${tool}`}>What it takes</summary>
      <pre tabindex="0" aria-label=${`Schema of ${tool}`}>${schema}</pre>
      ${hints && html`<p class="fine">What it says of its effects, which nobody has checked:</p>
        <pre tabindex="0" aria-label=${`Hints of ${tool}`}>${hints}</pre>`}</details>
    <div class="mcp-actions">
      ${(state === "new" || state === "changed") && html`<${ConfirmButton} key=${digest} label="Allow" what=${tool}
        run=${allow} />`}
      ${state !== "new" && html`<${ConfirmButton} key=${state} label="Allow no more" what=${tool} run=${forbid} />`}
    </div>
  </li>`;
}

/** @param {{ changes: Tool["changes"], tool: string }} props */
function Changes({ changes, tool }) {
  return html`<div class="mcp-changes" role="group" aria-label=${`What has changed in ${tool}`}>
    <p>It is not what you allowed, so no agent uses it until you allow it again.</p>
    ${changes.length === 0 && html`<p>What has changed can't be seen in it.</p>`}
    ${changes.map(({ part, was, now }) => html`<dl key=${part}><dt>${part}, as you allowed it</dt>
      <dd><del>${was || "nothing"}</del></dd><dt>${part}, now</dt><dd><ins>${now || "nothing"}</ins></dd></dl>`)}
  </div>`;
}
