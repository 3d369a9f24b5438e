// @ts-check
/** Settings, MCP servers: each server with its state, its tools and their changes, and the approval by a person. */
import { useEffect } from "preact/hooks";
import { mutate } from "../rpc.js";
import { now } from "../now.js";
import { Faults } from "../settings/declared.js";
import { Pending, useFetched } from "../settings/fetched.js";
import { ago } from "../ui/format.js";
import { ConfirmButton } from "../ui/confirm.js";
import { Nothing } from "../ui/empty.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { toast } from "../ui/toast.js";
import { Declare } from "./declare.js";
import { Key, Rights } from "./rights.js";
import { SignIn, refusalOf } from "./sign_in.js";
import { ToolRow } from "./tool.js";

/** @typedef {OutputOf<"mcp.servers">[number]} Server */

const LOOKS_AGAIN_MS = 500;
const STATES = {
  off: "off", new: "not connected", changed: "changed", looking: "connecting", failed: "failed", ready: "connected",
};

export function ServersSection() {
  const servers = useFetched("mcp.servers");
  const problems = useFetched("config.problems");
  const isLooking = servers.data?.some((one) => one.state === "looking");
  useEffect(() => {
    if (!isLooking) return undefined;
    const timer = setTimeout(() => void servers.load(), LOOKS_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [servers.data]);
  const load = async () => {
    await Promise.all([servers.load(), problems.load()]);
  };
  return html`<p class="fine">Programs and services that speak the Model Context Protocol have tools for your agents. An
      agent uses only what you allow here, and you are asked before it calls one, unless its page says otherwise and it
      has read nothing from outside.</p>
    <${Pending} of=${servers} what="the MCP servers" />
    ${refusalOf("") && html`<p class="form-problem" role="alert">${refusalOf("")}</p>`}
    <${Faults} problems=${problems.data} below="mcp/" />
    ${servers.data?.length === 0 && html`<section class="setting" aria-label="Connected servers"><${Nothing} icon="mcp"
      title="No servers yet"><p>Add one below: by its address, or by the command that starts it.</p></${Nothing}>
      </section>`}
    ${servers.data?.map((one) => html`<${ServerCard} key=${one.name} server=${one} load=${load} />`)}
    ${servers.data && html`<${Declare} taken=${servers.data.map((one) => one.name)} load=${load} />`}`;
}

/** @param {{ server: Server, load: () => Promise<void> }} props */
function ServerCard({ server, load }) {
  const { name, title, path, plugin, kind, target, values, launch, state, problem, version } = server;
  const { lookedAt, leftOut, tools } = server;
  const id = `mcp-${name}`;
  const connect = async () => {
    try {
      await mutate("mcp.connect", { name, launch });
    } finally {
      await load();
    }
  };
  const waiting = tools.filter((one) => one.state === "new" || one.state === "changed");
  const isNew = state === "new" || state === "changed";
  const question = kind === "stdio" ? "This program then runs on the server, with the rights that are shown here." :
    "Its tools are then asked for at this address.";
  return html`<section class="setting mcp-server" aria-labelledby=${id} aria-busy=${state === "looking"}>
    <div class="mcp-head"><h2 id=${id}><bdi>${title}</bdi></h2>
      <span class=${`badge ${state === "ready" ? "open" : ""}`}>${STATES[state]}</span></div>
    <p class="fine"><code>${target}</code></p>
    <p class="fine">${kind === "stdio" ? "A program on the server" : "An address"}${
      path !== null ? html`, named by <a href=${`/p/${path}`}>${path}</a>`
        : plugin !== null ? html`, from the plugin <code>${plugin}</code>`
          : html`, set up on the server (<code>SVC_MCP_SERVERS</code>)`}.
      ${values.length > 0 && ` It is given ${values.join(", ")}.`}
      ${version && ` Version ${version}.`} ${lookedAt && ` Looked at ${ago(lookedAt, now.value)}.`}</p>
    ${kind === "stdio" && html`<${Rights} folders=${server.folders} confined=${server.confined} />`}
    ${server.credentials.filter((one) => one.isSet === false).map((one) =>
      html`<${Key} key=${one.name} name=${one.name} load=${load} />`)}
    ${state === "changed" && html`<div class="notice" role="status"><${Icon} name="warning" />
      <div><p>It is not what you connected: its program, its address or what it is given has changed. Until you connect
        it again it is not used.</p></div></div>`}
    ${problem && html`<div class="notice bad" role="status"><${Icon} name="warning" /><div><p>${problem}</p></div>
      </div>`}
    <${SignIn} key=${`${launch} ${server.signIn}`} server=${server} load=${load} />
    ${leftOut.length > 0 && html`<details class="mcp-more"><summary>Left out: ${leftOut.length}</summary>
      <ul>${leftOut.map((one, index) => html`<li key=${index}>${one}</li>`)}</ul></details>`}
    ${state !== "off" && state !== "looking" && html`<${ConfirmButton} key=${`${state} ${launch}`} what=${title}
      label=${isNew ? "Connect" : "Look again"} question=${isNew ? question : undefined} sure="Connect" calm
      run=${connect} />`}
    ${tools.length > 0 && html`<ul class="mcp-tools" aria-label=${`Tools of ${title}`}>${tools.map((one) =>
      html`<${ToolRow} key=${one.tool} server=${name} tool=${one} load=${load} />`)}</ul>`}
    ${waiting.length > 1 && html`<${AllowAll} server=${name} title=${title} waiting=${waiting} load=${load} />`}
  </section>`;
}

/** @param {{ server: string, title: string, waiting: Server["tools"], load: () => Promise<void> }} props */
function AllowAll({ server, title, waiting, load }) {
  const allow = async () => {
    try {
      await mutate("mcp.allow", { name: server, tools: waiting.map(({ tool, digest }) => ({ name: tool, digest })) });
      toast(`${waiting.length} tools are allowed.`);
    } finally {
      await load();
    }
  };
  return html`<${ConfirmButton} key=${waiting.map((one) => one.digest).join()} label=${`Allow all ${waiting.length}`}
    what=${title} question="You have read what each says?" sure="Allow" calm run=${allow} />`;
}
