// @ts-check
/** The feature row of MCP servers, whose tools agents may use. */
import { late } from "../late.js";

const later = () => import("./settings.js");
const ServersSection = late(later, "ServersSection");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "mcp",
  settings: [
    { name: "mcp", label: "MCP servers", title: "MCP servers", group: "Agents", icon: "mcp", order: 58,
      holds: ["MCP", "Model Context Protocol", "Tools for agents", "Connect a server"], show: ServersSection },
  ],
  icons: { mcp: "M3.5 4h13v4.5h-13zM3.5 11.5h13V16h-13zM6.5 6.25h.01M6.5 13.75h.01M10 8.5v3" },
};
