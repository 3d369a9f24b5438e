// @ts-check
/** The feature row of the task queue. */
import { late } from "../late.js";
import { html } from "../ui/html.js";
import { Shell } from "../ui/shell.js";
import { tasksCount } from "./count.js";
import { loadOutgoing, onOutgoingEvent } from "./outgoing.js";

const later = () => import("./page.js");
const TasksPage = late(later, "TasksPage");

/** @type {import("../feature.js").Feature} */
export const FEATURE = {
  name: "tasks",
  keys: async () => [{ title: "Tasks", shortcuts: (await later()).SHORTCUTS }],
  routes: [{
    parse: ({ pathname, searchParams }) => (/^\/p\/tasks\/?$/.test(pathname)
      ? { scheduled: searchParams.get("only") === "scheduled" } : null),
    show: ({ scheduled }) => html`<${Shell}><${TasksPage} scheduled=${scheduled} /></${Shell}>`,
  }],
  nav: [{ at: "top", title: "Tasks", icon: "tasks", href: () => "/p/tasks", bar: "Tasks", count: tasksCount }],
  topics: ["tasks"],
  onEvent: onOutgoingEvent,
  refetch: () => void loadOutgoing(),
  icons: {
    tasks: "M4 5.5l1.3 1.3L7.5 4.5M10 5.7h6.5M4 10.5l1.3 1.3 2.2-2.3M10 10.7h6.5M4 15.5h3M10 15.5h6.5",
  },
};
