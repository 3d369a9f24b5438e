// @ts-check
/** The way to the task queue, in the frame around every page. */
import { plural } from "../ui/format.js";
import { html } from "../ui/html.js";
import { Icon } from "../ui/icons.js";
import { troubled, waiting } from "./outgoing.js";

/** The way to what is scheduled or on its way, with how much there is. */
export function TasksLink() {
  const count = waiting.value.length;
  const bad = troubled.value.length;
  const parts = [count - bad > 0 && `${count - bad} scheduled`, bad > 0 && `${plural(bad, "needs", "need")} your word`]
    .filter(Boolean);
  const title = count ? `Tasks, ${count}: ${parts.join(", ")}` : "Tasks";
  return html`<a class="icon-button tasks-link" href="/p/tasks" aria-label=${title} title=${title}>
    <${Icon} name="tasks" />${count > 0 && html`<span class=${`tasks-count${bad ? " bad" : ""}`} aria-hidden="true">
      ${count}</span>`}
  </a>`;
}
