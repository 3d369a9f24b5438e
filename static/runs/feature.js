// @ts-check
/** Runs and approvals as an entry in the app's list of features. */
import { late } from "../late.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { parseRunsAddress } from "./address.js";
import { onSaid } from "./agent.js";
import { agentCommands, askCommand, prepareAgents } from "./agents.js";
import { loadApprovals, onApprovalNews } from "./approvals.js";
import { AskDialog } from "./ask.js";
import { onRunNews, refetchRuns } from "./news.js";

const later = () => import("./later.js");
const AgentsSection = late(later, "AgentsSection");
const RunsPage = late(later, "RunsPage");
const RunPage = late(later, "RunPage");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "runs",
  async keys() {
    const { SHORTCUTS, shortcuts } = await later();
    return [{ title: "Runs", shortcuts: SHORTCUTS }, { title: "Run", shortcuts: shortcuts(null) }];
  },
  routes: [{ parse: parseRunsAddress, show: ({ id, filter }) => html`<${Shell}>${
    id ? html`<${RunPage} key=${id} id=${id} />` : html`<${RunsPage} filter=${filter} />`}</${Shell}>` }],
  nav: [{ at: "top", title: "Runs", icon: "runs", href: () => "/p/runs" }],
  topics: ["runs", "tasks"],
  onEvent(event) {
    if (event.kind === "run.said") return onSaid(event);
    if (event.topic === "runs") onRunNews(event);
    onApprovalNews(event);
  },
  refetch() {
    refetchRuns();
    void loadApprovals();
  },
  start: () => void loadApprovals(),
  overlays: [AskDialog],
  settings: [{ name: "agents", label: "Agents", title: "Agents", group: "Agents", icon: "agent", order: 56,
    holds: ["Agents", "Instructions", "Schedule", "Triggers", "Memory", "Assistant"], show: AgentsSection }],
  prepare: prepareAgents,
  commands: agentCommands,
  lookup: askCommand,
  icons: {
    agent: "M4.5 7.5h11V15h-11zM10 7.5V4.8M10 3.6h.01M7.8 10.6v1M12.2 10.6v1M2.5 10v2.5M17.5 10v2.5",
    runs: "M10 3.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM8.5 7.3l4.3 2.7-4.3 2.7z",
  },
};
