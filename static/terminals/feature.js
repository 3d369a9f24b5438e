// @ts-check
/** The entry of terminals in the app's list of features: for admins, where the server has terminals. */
import { late } from "../late.js";
import { isAdmin } from "../session.js";
import { isSwitchedOff } from "../switches.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { parseTerminalAddress, TERMINALS } from "./address.js";

const later = () => import("./page.js");
const TerminalPage = late(later, "TerminalPage");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "terminals",
  keys: async () => [{ title: "Terminal", shortcuts: (await later()).SHORTCUTS }],
  routes: [{ parse: parseTerminalAddress, show: ({ session }) => html`<${Shell}>
    <${TerminalPage} session=${session} /></${Shell}>` }],
  nav: [{ at: "top", title: "Terminal", icon: "terminal", href: () => TERMINALS,
    also: ["shell", "console", "command line"],
    when: () => isAdmin() && !isSwitchedOff("terminals") }],
  icons: {
    "terminal-search": "M8.7 3.8a4.9 4.9 0 1 0 0 9.8 4.9 4.9 0 0 0 0-9.8zM12.3 12.3l4 4",
    "terminal-paste": "M7 4.5H4.5v12h11v-12H13M7 3.5h6v3H7zM7.5 10h5M7.5 13h3",
    "terminal-up": "M5 12.5 10 7.5l5 5",
    "terminal-down": "M5 7.5l5 5 5-5",
  },
};
